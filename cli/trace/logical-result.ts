/** What ovn-trace says becomes of a packet, in one message, and whether Open vSwitch agrees. Pure. */
import type { LogicalBlock, LogicalStage } from './ovn-trace.ts';
import { kindOfDatapath, type LogicalOutput, outputsOfStage, ownBlocks } from './own-blocks.ts';
import type { PortOwner, TraceResult } from './trace-result.ts';

export interface LogicalResult {
  /** `port`: of a pod or of the host; `unknown`: conntrack would have to say how it goes on. */
  readonly kind: 'port' | 'remote' | 'gateway' | 'controller' | 'refused' | 'dropped' | 'unknown';
  readonly message: string;
  /** The logical ports that it comes to. */
  readonly ports: readonly string[];
}

/** @param blocks at least one */
export const logicalResultOf = (
  blocks: readonly LogicalBlock[],
  owners: ReadonlyMap<string, PortOwner>,
): LogicalResult => {
  const own = ownBlocks(blocks);
  const asking = positionsOf(own).find(({ stage }) => isAsking(stage));
  if (asking !== undefined) {
    return result('controller', `${asking.where} does not know the MAC of the next hop and requests it`);
  }
  const outputs = positionsOf(own).flatMap(({ stage }) => outputsOfStage(stage).filter(isEnd));
  const [only] = outputs;
  if (only === undefined) return withoutOutput(own);
  const ports = outputs.map(({ port }) => port);
  if (outputs.length > 1) return { kind: 'unknown', message: `it goes to ${ports.join(', ')}`, ports };
  return { ...endOf(only, owners), ports };
};

/** Of ports of routers there is another end. */
const isEnd = ({ type }: LogicalOutput): boolean =>
  !['patch', 'l3gateway', 'chassisredirect', 'router', 'l2gateway'].includes(type);

const endOf = ({ port, type }: LogicalOutput, owners: ReadonlyMap<string, PortOwner>): Omit<LogicalResult, 'ports'> => {
  if (type === 'localnet') return { kind: 'gateway', message: `it goes to the gateway bridge through ${port}` };
  if (type === 'remote') return { kind: 'remote', message: `it goes to another node, as port ${port}` };
  const pod = owners.get(port)?.pod;
  return {
    kind: 'port',
    message: pod === undefined ? `it comes to port ${port}` : `it comes to ${pod}, port ${port}`,
  };
};

interface LogicalPosition {
  /** `router GR_red_node-1` */
  readonly where: string;
  readonly stage: LogicalStage;
}

const positionsOf = (blocks: readonly LogicalBlock[]): LogicalPosition[] => {
  let where = 'OVN';
  return blocks.flatMap((block) => {
    if (block.pipeline !== undefined) where = `${kindOfDatapath(block)} ${block.pipeline.datapath}`;
    return block.stages.map((stage) => ({ where, stage }));
  });
};

/** The packet itself goes on to nobody: ovn-controller keeps it until there is an answer. */
const isAsking = ({ actions }: LogicalStage): boolean => actions.some((action) => /^(arp|nd_ns) \{/.test(action));

const withoutOutput = (blocks: readonly LogicalBlock[]): LogicalResult => {
  const positions = positionsOf(blocks);
  const last = positions.at(-1);
  if (last === undefined) return result('dropped', 'it is dropped');
  const { where, stage } = last;
  if (stage.flow === undefined)
    return result('dropped', `dropped by ${where}: no flow of stage ${stage.stage} matches`);
  if (/^ct_/.test(stage.actions.at(-1) ?? '')) {
    return result('unknown', `it cannot be followed past stage ${stage.stage} of ${where}: conntrack decides`);
  }
  const kind = stage.actions.some((action) => action.startsWith('reject {')) ? 'refused' : 'dropped';
  const acl = isAclAction(stage.stage) ? positions.findLast((one) => isAcl(one.stage))?.stage.flow : undefined;
  return result(
    kind,
    acl === undefined
      ? `${kind} by stage ${stage.stage} of ${where}: ${stage.flow.match}`
      : `${kind} by an ACL of ${where} (priority ${acl.priority - ACL_OFFSET}): ${acl.match}`,
  );
};

/** ovn-northd adds it to the priorities of ACLs; those of its own flows are outside of the band. */
export const ACL_OFFSET = 1_000;
const MAX_ACL_PRIORITY = 32_767;

/** Egress ACLs of network policies are evaluated after load balancing (ovn-nb(5), `apply-after-lb`). */
export const isAclEvaluation = (stage: string): boolean => /_acl(_after_lb)?_eval$/.test(stage);
export const isAclAction = (stage: string): boolean => /_acl(_after_lb)?_action$/.test(stage);

export const isAcl = ({ stage, flow }: LogicalStage): boolean =>
  isAclEvaluation(stage) &&
  flow !== undefined &&
  flow.priority >= ACL_OFFSET &&
  flow.priority <= ACL_OFFSET + MAX_ACL_PRIORITY;

const result = (kind: LogicalResult['kind'], message: string): LogicalResult => ({ kind, message, ports: [] });

/**
 * Whether both say the same, as far as OVN's part of it goes: behind the gateway bridge, Open vSwitch alone knows. Undefined
 * where they cannot be compared.
 * @param owners pods by logical port
 */
export const agrees = (
  { kind, bridge, pod }: Pick<TraceResult, 'kind' | 'bridge' | 'pod'>,
  logical: LogicalResult,
  owners: ReadonlyMap<string, PortOwner>,
): boolean | undefined => {
  if (kind === 'port' || logical.kind === 'unknown') return undefined;
  const isBehind = bridge !== undefined && bridge !== 'br-int';
  switch (kind) {
    case 'delivered':
      return logical.kind === 'port' && logical.ports.every((port) => owners.get(port)?.pod === pod);
    case 'tunnel':
      return logical.kind === 'remote';
    case 'leaves':
      return logical.kind === 'gateway';
    // By its management port, or through the gateway bridge.
    case 'host':
      return isBehind ? logical.kind === 'gateway' : logical.kind === 'port';
    case 'controller':
      return logical.kind === 'controller' || logical.kind === 'refused';
    case 'dropped':
      return logical.kind === (isBehind ? 'gateway' : 'dropped');
  }
};
