/** Connection data of a provider's model, including its API key. */
export interface RemoteModel {
  id: string
  provider: string
  model_id: string
  endpoint: string | null
  api_key: string | null
  /** Whether the endpoint may be in the private network. */
  allow_private: boolean
}
