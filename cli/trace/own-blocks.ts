/** Which parts of an ovn-trace are about the packet itself. Pure. */
import type { LogicalBlock, LogicalStage } from './ovn-trace.ts';

/** Actions that make another packet, or a copy: what becomes of that says nothing about this one (ovn-sb(5), Logical_Flow). */
const OTHERS =
  /^(arp|nd_ns|nd_ns_mc|nd_na|nd_na_router|icmp4|icmp4_error|icmp6|icmp6_error|tcp_reset|sctp_abort|reject|clone)\b/;

/** Those of them that end the packet: ovn-trace does not indent what comes last. */
const REFUSALS = /^(icmp4|icmp6|tcp_reset|sctp_abort|reject)\b/;

/** A block of another packet has all that is deeper behind it. */
export const ownBlocks = (blocks: readonly LogicalBlock[]): readonly LogicalBlock[] => {
  /** Blocks are another packet's down to this depth. */
  let foreign = Number.POSITIVE_INFINITY;
  return blocks.filter((block) => {
    if (block.depth < foreign) foreign = Number.POSITIVE_INFINITY;
    if (foreign === Number.POSITIVE_INFINITY && OTHERS.test(block.title))
      foreign = REFUSALS.test(block.title) ? block.depth : block.depth + 1;
    else if (foreign === Number.POSITIVE_INFINITY) return true;
    return false;
  });
};

export interface LogicalOutput {
  readonly port: string;
  /** Of the port, ovn-sb(5) Port_Binding: empty for that of a pod or of the host. */
  readonly type: string;
}

export const outputsOfStage = ({ notes }: LogicalStage): LogicalOutput[] =>
  notes.flatMap((note) => {
    const [, port, type] = /^output to "([^"]*)", type "([^"]*)"$/.exec(note) ?? [];
    return port === undefined || type === undefined ? [] : [{ port, type }];
  });

/** A switch's or a router's, by the names of its stages. */
export const kindOfDatapath = ({ stages }: LogicalBlock): 'switch' | 'router' =>
  stages.some(({ stage }) => stage.startsWith('lr_')) ? 'router' : 'switch';
