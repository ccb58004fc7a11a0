/** What a trace says, in one message. Pure. */
import { purposeOf } from '../flows/purpose.ts';
import { goesToController, outputsOf } from './datapath-actions.ts';
import { ACL_OFFSET, isAclAction, isAclEvaluation } from './logical-result.ts';
import type { TraceAction, TraceBridge, TracePass, TraceStep } from './ofproto-trace.ts';
import type { BridgePort } from './port-names.ts';
import { withoutPorts } from './steps.ts';

export interface TraceContext {
  readonly ports: readonly BridgePort[];
  /** Ports of pods, and of networks, by the name of the OVS port. */
  readonly owners: ReadonlyMap<string, PortOwner>;
  /** The gateway bridge's port to the outside. */
  readonly uplink: string | undefined;
  /** Logical flows of the steps that may have decided, by cookie. */
  readonly logicalFlows: ReadonlyMap<string, LogicalFlow>;
  /** Logical switches and routers by key. */
  readonly datapaths: ReadonlyMap<number, { readonly kind: string; readonly name: string }>;
}

export interface PortOwner {
  /** `namespace/name`; absent for a port of the network itself: to the gateway bridge, or to the host. */
  readonly pod?: string;
  readonly network: string;
}

export interface LogicalFlow {
  /** `ls_in_acl_eval` */
  readonly stage: string;
  /** As OVN writes it. */
  readonly match: string;
}

export interface TraceResult {
  readonly kind: 'delivered' | 'tunnel' | 'leaves' | 'host' | 'controller' | 'port' | 'dropped';
  readonly message: string;
  /** Where it ended, of what goes to the host or is dropped. */
  readonly bridge?: string;
  /** Whom it was delivered to. */
  readonly pod?: string;
}

/** @param passes at least one */
export const traceResultOf = (passes: readonly TracePass[], context: TraceContext): TraceResult => {
  const arrivals = uniquePorts(passes.flatMap((pass) => arrivalsOf(pass, context)));
  const [only] = arrivals;
  if (only === undefined) return withoutArrival(passes, context);
  if (arrivals.length > 1) {
    const names = arrivals.map((port) => describe(port, passes, context).message);
    return { kind: 'port', message: `sent to several ports: ${names.join('; ')}` };
  }
  return describe(only, passes, context);
};

/** Patch ports are on the way, and what a tunnel is wrapped in says nothing of the packet. */
const arrivalsOf = (pass: TracePass, { ports }: TraceContext): BridgePort[] => {
  const named = pass.bridges
    .filter(({ isUnderlay }) => !isUnderlay)
    .flatMap(({ bridge, steps }) => outputActions(steps).map((number) => portOf(ports, bridge, number)));
  const sent = outputsOf(pass.datapathActions).flatMap((number) => {
    const found = ports.find(({ datapathPort }) => datapathPort === number) ?? unknownPort(number);
    // Tunnels share one port of the datapath: which it is, the action has said.
    return found.remoteIp === undefined ? [found] : [];
  });
  return [...named, ...sent].filter((port): port is BridgePort => port !== undefined && port.type !== 'patch');
};

const unknownPort = (datapathPort: number): BridgePort => ({
  bridge: 'the datapath',
  name: String(datapathPort),
  ofport: -1,
  datapathPort,
  type: 'unknown',
  peer: undefined,
  remoteIp: undefined,
});

const outputActions = (steps: readonly TraceStep[]): string[] =>
  steps.flatMap(({ actions }) =>
    actions.flatMap(({ text }) => (text === 'LOCAL' ? ['LOCAL'] : (/^output:([0-9]+)$/.exec(text)?.[1] ?? []))),
  );

/** `LOCAL` is the port with the bridge's own name. */
const portOf = (ports: readonly BridgePort[], bridge: string, number: string): BridgePort | undefined =>
  ports.find((port) => port.bridge === bridge && (String(port.ofport) === number || isLocal(port, number)));

const isLocal = ({ name, bridge }: BridgePort, number: string): boolean => number === 'LOCAL' && name === bridge;

const uniquePorts = (ports: readonly BridgePort[]): BridgePort[] => [
  ...new Map(ports.map((port) => [`${port.bridge} ${port.name}`, port])).values(),
];

const describe = (port: BridgePort, passes: readonly TracePass[], { owners, uplink }: TraceContext): TraceResult => {
  const owner = owners.get(port.name);
  if (port.remoteIp !== undefined)
    return { kind: 'tunnel', message: `sent to the node ${port.remoteIp} through a tunnel` };
  if (owner?.pod !== undefined)
    return {
      kind: 'delivered',
      message: `delivered to ${owner.pod} on this node, network ${owner.network}`,
      pod: owner.pod,
    };
  if (port.name === uplink) return { kind: 'leaves', message: `leaves through ${port.name}${sourceOf(passes)}` };
  const { bridge } = port;
  if (port.name === bridge) return { kind: 'host', bridge, message: `goes to the host through ${port.name}` };
  if (owner !== undefined)
    return { kind: 'host', bridge, message: `goes to the host through ${port.name}, network ${owner.network}` };
  return { kind: 'port', message: `goes out of port ${port.name} of ${port.bridge}` };
};

/** ` as 172.20.0.11 (masqueraded from 169.254.0.11)` */
const sourceOf = (passes: readonly TracePass[]): string => {
  const translates = ({ actions }: TraceStep): boolean => actions.some(({ text }) => natSource(text) !== undefined);
  const steps = passes.flatMap(({ bridges }) => bridges).findLast((one) => one.steps.some(translates))?.steps ?? [];
  const last = steps.findLastIndex(translates);
  const address = steps[last]?.actions.map(({ text }) => natSource(text)).find((found) => found !== undefined);
  if (address === undefined) return '';
  // The flow itself, or the one before it that has told who sends.
  const before = lastField(steps.slice(0, last + 1), /(?:nw_src|ipv6_src)=([^,]+)/);
  return ` as ${address}${before === undefined || before === address ? '' : ` (masqueraded from ${before})`}`;
};

/** Of the last flow that matches on it. */
const lastField = (steps: readonly TraceStep[], field: RegExp): string | undefined =>
  steps.map(({ flow }) => field.exec(flow?.match ?? '')?.[1]).findLast((value) => value !== undefined);

const natSource = (action: string): string | undefined => {
  const address = /^ct\(.*nat\(src=([^),]+)/.exec(action)?.[1];
  return address === undefined ? undefined : withoutPorts(address);
};

const withoutArrival = (passes: readonly TracePass[], context: TraceContext): TraceResult => {
  const last = passes.at(-1);
  const positions = positionsOf(last?.bridges ?? []);
  const at = positions.at(-1);
  const isAsked = at?.step.actions.some(asksController) === true;
  // What a router asks the controller to do for a packet is in no datapath action when that keeps nothing of the packet.
  const goesThere = last !== undefined && goesToController(last.datapathActions) && !isOnlyLogged(positions);
  if (last !== undefined && (isAsked || goesThere))
    return { kind: 'controller', message: controllerMessage(at, context) };
  if (at === undefined) return { kind: 'dropped', message: 'dropped' };
  return { kind: 'dropped', bridge: at.bridge, message: dropMessage(at, positions, context) };
};

interface Position {
  readonly bridge: string;
  readonly step: TraceStep;
}

const positionsOf = (bridges: readonly TraceBridge[]): Position[] =>
  bridges.flatMap(({ bridge, isUnderlay, steps }) =>
    isUnderlay ? [] : steps.filter(({ table }) => table !== undefined).map((step) => ({ bridge, step })),
  );

const isForController = ({ text }: TraceAction): boolean => text.startsWith('controller(');

/** OVN's action `log`, of an ACL that is logged, tells ovn-controller of the packet and leaves it where it is (`ACTION_OPCODE_LOG`). */
const isLog = ({ text }: TraceAction): boolean => text.startsWith('controller(userdata=00.00.00.07.');

const asksController = (action: TraceAction): boolean => isForController(action) && !isLog(action);

const isOnlyLogged = (positions: readonly Position[]): boolean => {
  const asked = positions.flatMap(({ step }) => step.actions.filter(isForController));
  return asked.length > 0 && asked.every(isLog);
};

const controllerMessage = (at: Position | undefined, context: TraceContext): string => {
  const logical = at && context.logicalFlows.get(at.step.flow?.cookie ?? '');
  if (at === undefined || logical === undefined) return 'sent to ovn-controller, which answers or completes it';
  const where = datapathName(at.step, context);
  return logical.stage === 'lr_in_arp_request'
    ? `waits at ${where}: the MAC of the next hop is not known yet; ovn-controller requests it`
    : `sent to ovn-controller by stage ${logical.stage} of ${where}`;
};

const dropMessage = ({ bridge, step }: Position, positions: readonly Position[], context: TraceContext): string => {
  const { table, flow } = step;
  if (flow === undefined) return `dropped by ${bridge} table ${table}: no flow matches`;
  const where = `dropped by ${bridge} table ${table} priority ${flow.priority}`;
  const logical = context.logicalFlows.get(flow.cookie ?? '');
  if (logical !== undefined) return `${where}: ${logicalReason(logical, step, positions, context)}`;
  if (/\breg14=(0x[0-9a-f]+),reg15=\1\b/.test(flow.match)) return `${where}: its output port is its input port`;
  const purpose = purposeOf({ table: table ?? 0, priority: flow.priority, cookie: flow.cookie ?? '' });
  if (purpose === undefined) return where;
  const here = positions.filter((position) => position.bridge === bridge).map((position) => position.step);
  const inPort = lastField(here, /in_port=([^,]+)/);
  const port = inPort === undefined ? undefined : portOf(context.ports, bridge, inPort);
  const network = port && context.owners.get(port.name)?.network;
  return `${where}: ${purpose.purpose}${network === undefined ? '' : ` (network ${network})`}`;
};

/** ACLs are done in a later table than the one that found which of them it is. */
const logicalReason = (
  logical: LogicalFlow,
  step: TraceStep,
  positions: readonly Position[],
  context: TraceContext,
): string => {
  const where = datapathName(step, context);
  const evaluated = positions.findLast(({ step: { flow } }) => isAcl(context.logicalFlows.get(flow?.cookie ?? '')));
  if (!isAclAction(logical.stage) || evaluated === undefined) return `stage ${logical.stage} of ${where}`;
  const acl = context.logicalFlows.get(evaluated.step.flow?.cookie ?? '');
  const priority = (evaluated.step.flow?.priority ?? 0) - ACL_OFFSET;
  return `an ACL of ${where} (priority ${priority}, ${acl?.match})`;
};

const isAcl = (logical: LogicalFlow | undefined): boolean =>
  logical !== undefined && isAclEvaluation(logical.stage) && logical.match !== '1';

const datapathName = ({ flow }: TraceStep, { datapaths }: TraceContext): string => {
  const key = /(?:^|,)metadata=(0x[0-9a-f]+)(?:,|$)/.exec(flow?.match ?? '')?.[1];
  const known = datapaths.get(Number(key));
  return known === undefined ? `datapath ${key ?? 'unknown'}` : `${known.kind} ${known.name}`;
};

/** Cookies of the flows that are worth knowing of, those of the end of the last pass. */
export const decidingFlows = (passes: readonly TracePass[]): { readonly cookie: string; readonly priority: number }[] =>
  (passes.at(-1)?.bridges ?? [])
    .flatMap(({ steps }) => steps)
    .slice(-3)
    .flatMap(({ flow }) => (flow?.cookie === undefined ? [] : [{ cookie: flow.cookie, priority: flow.priority }]));
