/** The requests of a daemon about replies that another one writes. */

export const REPLY_REQUESTS = {
  follow: 'reply.follow',
  leave: 'reply.leave',
  confirm: 'reply.confirm',
  abort: 'conversation.abort',
} as const

export interface FollowRequest {
  /** Identifies the client that follows. */
  follower: string
}

export interface LeaveRequest extends FollowRequest {
  /** Whether the client received a pending tool call, so that the reply waits for its confirmation without followers. */
  isDetached: boolean
}
