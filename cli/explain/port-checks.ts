/** The walk of one port: northbound row, binding, interface of Open vSwitch, flows. */
import { dumpFlows } from '../flows/flow-dump.ts';
import { mapOf, type Row, setOf, uuidOf } from '../node/wire-values.ts';
import { type Check, missing, ok } from './check.ts';
import { type ExplainSources, rowWith } from './sources.ts';

export interface LogicalPort {
  readonly name: string;
  /** What the row's `addresses` have to begin with; undefined: not compared. */
  readonly mac?: string | undefined;
  /** Without prefix lengths. */
  readonly addresses: readonly string[];
  /** The pod of the same virtual machine that has the addresses now. */
  readonly standbyFor?: string | undefined;
}

export const northboundCheck = async ({ northbound }: ExplainSources, port: LogicalPort): Promise<Check> => {
  const what = 'northbound port';
  const row = await rowWith(northbound, 'Logical_Switch_Port', 'name', port.name, ['addresses', 'enabled']);
  if (row === undefined) {
    return missing(what, `no Logical_Switch_Port ${port.name}`, `see udnctl problems and udnctl diff`);
  }
  const has = setOf(row['addresses']).join(' ');
  const isClosed = row['enabled'] === false;
  if (port.standbyFor !== undefined) return standbyCheck(port.name, port.standbyFor, isClosed && has === '');
  if (isClosed) return missing(what, `${port.name} is closed (enabled=false)`, 'udnctl diff shows the row');
  const lacking = [port.mac, ...port.addresses].filter((part) => part !== undefined && !has.split(' ').includes(part));
  if (lacking.length > 0) {
    return missing(what, `${port.name} has "${has}" and lacks ${lacking.join(', ')}`, 'udnctl diff shows the row');
  }
  return ok(what, `${port.name} ${has}`);
};

/** While a virtual machine moves, or has moved away. */
const standbyCheck = (port: string, holder: string, isClosed: boolean): Check =>
  isClosed
    ? ok('northbound port', `${port} is closed: the virtual machine runs in pod ${holder}, which has its addresses`)
    : missing(
        'northbound port',
        `${port} is open, and pod ${holder} of the same virtual machine has its addresses`,
        'udnctl diff shows the row',
      );

export interface Binding {
  readonly checks: readonly Check[];
  /** Of the flows that ovn-controller makes for the port itself. */
  readonly cookie: string | undefined;
}

export const bindingChecks = async ({ southbound, openvswitch }: ExplainSources, port: string): Promise<Binding> => {
  const what = 'southbound binding';
  const columns = ['_uuid', 'chassis', 'up', 'tunnel_key', 'datapath'];
  const row = await rowWith(southbound, 'Port_Binding', 'logical_port', port, columns);
  if (row === undefined) {
    const check = missing(what, `no Port_Binding for ${port}`, 'northd creates it: is ovn-northd running?');
    return { checks: [check], cookie: undefined };
  }
  const cookie = `0x${uuidOf(row['_uuid'])
    .slice(0, 8)
    .replace(/^0+(?=.)/, '')}`;
  const [chassis] = setOf(row['chassis']);
  const bound = chassis === undefined ? undefined : await chassisName(southbound, chassis);
  if (bound === undefined) {
    const next = 'ovn-controller binds it when an interface has its name as iface-id: see the next lines';
    return { checks: [missing(what, `${port} is bound to no chassis`, next)], cookie };
  }
  const own = await systemId(openvswitch);
  if (bound !== own) {
    const next = 'the pod runs on another node, or two nodes have its interface';
    return { checks: [missing(what, `${port} is bound to chassis ${bound}, this node is ${own}`, next)], cookie };
  }
  const isUp = setOf(row['up']).includes('true');
  const check = isUp
    ? ok(what, `chassis ${bound}, up, tunnel key ${String(row['tunnel_key'])}`)
    : missing(what, `chassis ${bound}, not up`, 'ovn-controller is still installing its flows, or is not running');
  return { checks: [check], cookie };
};

const chassisName = async (southbound: ExplainSources['southbound'], uuid: string): Promise<string | undefined> => {
  const where = [['_uuid', '==', ['uuid', uuid]]] as const;
  const [found] = await southbound([{ op: 'select', table: 'Chassis', where, columns: ['name'] }]);
  const name = found?.rows?.[0]?.['name'];
  return typeof name === 'string' ? name : undefined;
};

const systemId = async (openvswitch: ExplainSources['openvswitch']): Promise<string | undefined> => {
  const [found] = await openvswitch([{ op: 'select', table: 'Open_vSwitch', where: [], columns: ['external_ids'] }]);
  return mapOf(found?.rows?.[0]?.['external_ids']).get('system-id');
};

export interface Interface {
  readonly checks: readonly Check[];
  readonly ofport: number | undefined;
}

/** @param port its `iface-id`; undefined where none is needed, for a patch port */
export const interfaceChecks = async (
  { openvswitch }: ExplainSources,
  name: string,
  port: string | undefined,
): Promise<Interface> => {
  const what = 'OVS interface';
  const columns = ['external_ids', 'ofport', 'error', 'link_state', 'type'];
  const row = await rowWith(openvswitch, 'Interface', 'name', name, columns);
  if (row === undefined) {
    const next = 'see udnctl problems; the CNI call of the container runtime or the agent creates the interface';
    return { checks: [missing(what, `no interface ${name}`, next)], ofport: undefined };
  }
  const [ofport] = setOf(row['ofport']).map(Number);
  const problem = interfaceProblem(row, port, ofport);
  if (problem !== undefined) return { checks: [missing(what, `${name}: ${problem.found}`, problem.next)], ofport };
  const state = setOf(row['link_state'])[0] ?? 'without link state';
  if (state === 'down') {
    const next = 'run ip link show on the node and in the pod: an end that is down drops all packets of the pod';
    return { checks: [missing(what, `${name}, ofport ${ofport}: its link is down`, next)], ofport };
  }
  return { checks: [ok(what, `${name}, ofport ${ofport}, ${state}`)], ofport };
};

const interfaceProblem = (
  row: Row,
  port: string | undefined,
  ofport: number | undefined,
): { readonly found: string; readonly next: string } | undefined => {
  const ids = mapOf(row['external_ids']);
  const [error] = setOf(row['error']);
  if (error !== undefined)
    return { found: error, next: 'ovs-vswitchd cannot use the link: does it still exist (ip link)?' };
  if (ofport === undefined || ofport < 1) return { found: 'it has no ofport', next: 'is ovs-vswitchd running?' };
  if (port === undefined) return undefined;
  const id = ids.get('iface-id');
  if (id !== port)
    return { found: `its iface-id is ${id ?? 'not set'}, not ${port}`, next: 'udnctl diff shows the row' };
  if (ids.get('ovn-installed') === 'true') return undefined;
  return {
    found: 'ovn-controller has not installed its flows',
    next: 'is ovn-controller running, does the port exist in OVN?',
  };
};

/** Flows that are for this port only; the network's are counted by `udnctl flows`. */
export const flowCheck = async ({ runner }: ExplainSources, cookie: string | undefined): Promise<Check> => {
  const what = 'flows of br-int';
  if (cookie === undefined) return missing(what, 'none: the port has no binding', 'see the binding above');
  const flows = await dumpFlows(runner, 'br-int', `cookie=${cookie}/-1`);
  if (flows.length === 0) return missing(what, `none with cookie ${cookie}`, 'is ovn-controller running?');
  const sent = flows.filter(({ table }) => table === 0).reduce((sum, { packets }) => sum + packets, 0);
  return ok(what, `${flows.length} of this port (cookie ${cookie}), ${sent} packets received from it`);
};
