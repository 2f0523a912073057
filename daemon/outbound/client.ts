/** What the guarded HTTP client offers to API tools, webhooks and web pages. */

export interface OutboundRequest {
  method?: string | undefined
  headers?: Readonly<Record<string, string>> | undefined
  body?: string | Uint8Array | undefined
  /** Private and loopback addresses too; metadata services, multicast and the like stay closed. */
  allowPrivateNetwork?: boolean | undefined
  /** For everything together: every hop, the headers and the whole body. */
  timeoutMs?: number | undefined
  /** Most bytes of the body, counted after decompression; what lies beyond is not read. */
  maxBytes?: number | undefined
  /** Most redirects that are followed; with 0 the redirect itself is the answer. */
  redirects?: number | undefined
  signal?: AbortSignal | undefined
  /** Asked once the headers of the last hop are there: false leaves the body unread. */
  wanted?: ((status: number, headers: Readonly<Record<string, string>>) => boolean) | undefined
}

export interface OutboundAnswer {
  status: number
  /** By lower-case name; repeated ones are joined with a comma. */
  headers: Record<string, string>
  body: Uint8Array
  /** The address that answered, after redirects. */
  url: string
  /** Whether the body goes on beyond what is here. */
  truncated: boolean
}

export interface Outbound {
  request(url: string | URL, request?: OutboundRequest): Promise<OutboundAnswer>
  /** The addresses a host may be reached at, for programs that connect by themselves. Throws ADDRESS_BLOCKED. */
  addressesOf(host: string, allowPrivateNetwork?: boolean): Promise<string[]>
  /** Ends what is under way and closes kept connections. */
  close(): Promise<void>
}
