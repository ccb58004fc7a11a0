/** What becomes of a cell. */

/**
 * As whom the endpoint sees who asks. `gateway router`: by its address on the join switch. `masquerade`: by one of the
 * masquerade subnets. `node`: by the address of the client's node, `node of the entry point`: of the one that it has asked.
 * `management port`: by the node's address on the default network.
 */
export const SEEN = ['itself', 'gateway router', 'node', 'node of the door', 'masquerade', 'management port'] as const;
export type Seen = (typeof SEEN)[number];

export interface Answered {
  /** `here`: endpoints of the node with the entry point only. */
  readonly by: 'all' | 'here';
  /** More than one where it depends on the endpoint. */
  readonly as: readonly Seen[];
}

/**
 * `refused`: at once, by a reset, an ABORT or an ICMP error. `silent`: no answer at all. `unanswered`: one of these, or what the
 * network outside says of an address that nobody there has.
 */
export type Outcome = Answered | 'refused' | 'silent' | 'unanswered';
