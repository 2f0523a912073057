/** What is needed to reach a provider's model, its key included. */
export interface RemoteModel {
  id: string
  provider: string
  model_id: string
  endpoint: string | null
  api_key: string | null
  /** Whether its address may be inside the private network. */
  allow_private: boolean
}
