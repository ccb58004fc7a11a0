/** `udnctl explain service`: what this node is to have for a Service, by the agent's own rendering, and what of it is there. */
import type { BalancerStatus, DifferencesStatus, ServiceStatus } from '../../api/agent-status.ts';
import { dumpFlows } from '../flows/flow-dump.ts';
import { setOf, uuidOf } from '../node/wire-values.ts';
import { type Check, type Explanation, missing, ok, unknown } from './check.ts';
import { endpointChecks, leftOutChecks, scopeOf, sliceChecks, vipChecks } from './service-endpoints.ts';
import { entryPointChecks } from './service-entry-points.ts';
import { attempt, type ExplainSources, rowWith } from './sources.ts';

/** @param key `namespace/name` */
export const explainService = async (sources: ExplainSources, key: string): Promise<Explanation> => {
  const { agent } = sources;
  const asked = await attempt('agent', async () => {
    const [services, node, problems] = await Promise.all([agent.services(key), agent.node(), agent.problems()]);
    return { service: services[0], node, problems };
  });
  if ('failed' in asked) return { subject: `service ${key}`, checks: [asked.failed] };
  const { service, node, problems } = asked.value;
  const subject = `service ${key} on ${node.name}`;
  if (service === undefined) return { subject, checks: [notKnown(key)] };
  const differences = await attempt('differences', () => agent.differences());
  const report = 'failed' in differences ? undefined : differences.value;
  const rows = await Promise.all(service.loadBalancers.map((balancer) => balancerChecks(sources, balancer, report)));
  return {
    subject,
    checks: [
      networkCheck(service),
      ...problems
        .filter(({ object }) => isAbout(object, service))
        .map(({ object, message }) => unknown(object, message)),
      ...sliceChecks(service),
      ...endpointChecks(service),
      ...rows.flat(),
      ...vipChecks(service),
      ...leftOutChecks(service),
      ...(await entryPointChecks(sources, key, node, report)),
      ...('failed' in differences ? [differences.failed] : strayChecks(service, differences.value)),
    ],
  };
};

const notKnown = (key: string): Check =>
  missing(
    'agent',
    `the agent of this node does not know a Service ${key} with ClusterIPs`,
    'headless and ExternalName Services need nothing on nodes; udnctl services lists the Services of the cluster',
  );

const networkCheck = ({ namespace, network, message, loadBalancers, clusterIps }: ServiceStatus): Check => {
  const what = 'network';
  if (message !== undefined) return missing(what, message, `udnctl services -n ${namespace}`);
  if (loadBalancers.length === 0)
    return missing(what, `${network} is not on this node yet`, `udnctl explain network ${network}`);
  return ok(what, `${network}, of namespace ${namespace}; ClusterIPs ${clusterIps.join(', ')}`);
};

/** Diagnostics of its slices have their names, which begin with the Service's. */
const isAbout = (object: string, { namespace, name, slices }: ServiceStatus): boolean =>
  object === `Service/${namespace}/${name}` ||
  slices.some((slice) => object === `EndpointSlice/${namespace}/${slice.name}`);

/** The row as the agent finds it, whether northd has taken it, and whether there are flows. */
const balancerChecks = async (
  sources: ExplainSources,
  balancer: BalancerStatus,
  report: DifferencesStatus | undefined,
): Promise<Check[]> => {
  const what = `load balancer ${balancer.protocol}${scopeOf(balancer)}`;
  // Of a group or a switch that lacks it, too.
  const difference = report?.differences.find(
    ({ key, wanted }) => key === balancer.key || wanted?.includes(`"${balancer.key}"`) === true,
  );
  if (difference !== undefined) {
    const found = `${difference.key} is ${difference.kind}${difference.problem === undefined ? '' : ` (${difference.problem})`}`;
    return [missing(what, found, 'udnctl diff shows the row; udnctl problems gives the reason')];
  }
  const found = await attempt(what, async () => {
    const row = await rowWith(sources.northbound, 'Load_Balancer', 'name', balancer.name, ['_uuid']);
    if (row === undefined) return [missing(what, `no row ${balancer.name}`, 'see udnctl problems and udnctl diff')];
    return [
      ok(what, `${balancer.name} on ${await attachedText(sources, balancer)}`),
      ...(await takenChecks(sources, balancer)),
    ];
  });
  return 'failed' in found ? [found.failed] : found.value;
};

/** `switch red_net_node-1, router GR_red_net_node-1 (by red_net_clusterLBGroup)` */
const attachedText = async ({ northbound }: ExplainSources, { places }: BalancerStatus): Promise<string> => {
  const texts: string[] = [];
  for (const target of places) {
    const [table = '', name = ''] = /^([^/]+)\/(.*)$/s.exec(target)?.slice(1) ?? [];
    if (table !== 'Load_Balancer_Group') texts.push(`${KINDS[table] ?? table} ${name}`);
    else texts.push(`${(await membersOf(northbound, name)).join(', ') || 'nothing'} (by ${name})`);
  }
  return texts.join(', ') || 'nothing';
};

const KINDS: Readonly<Record<string, string>> = { Logical_Switch: 'switch', Logical_Router: 'router' };

const membersOf = async (northbound: ExplainSources['northbound'], group: string): Promise<string[]> => {
  const row = await rowWith(northbound, 'Load_Balancer_Group', 'name', group, ['_uuid']);
  const uuid = uuidOf(row?.['_uuid']);
  const tables = ['Logical_Switch', 'Logical_Router'] as const;
  const found = await northbound(
    tables.map((table) => ({ op: 'select' as const, table, where: [], columns: ['name', 'load_balancer_group'] })),
  );
  return tables.flatMap((table, index) =>
    (found[index]?.rows ?? [])
      .filter((one) => setOf(one['load_balancer_group']).includes(uuid))
      .map((one) => `${KINDS[table]} ${String(one['name'])}`),
  );
};

/** What ovn-northd and ovn-controller have made of it. */
const takenChecks = async (
  { southbound, runner }: ExplainSources,
  { name, vips, protocol }: BalancerStatus,
): Promise<Check[]> => {
  const row = await rowWith(southbound, 'Load_Balancer', 'name', name, ['_uuid']);
  if (row === undefined)
    return [missing(`${protocol} southbound`, `northd has not programmed ${name}`, 'is ovn-northd running?')];
  const counts: (FlowCount & { readonly vip: string })[] = [];
  // There may be thousands, and each is asked for by a program.
  for (let from = 0; from < Object.keys(vips).length; from += ASKED_AT_ONCE) {
    const some = Object.keys(vips).slice(from, from + ASKED_AT_ONCE);
    counts.push(...(await Promise.all(some.map(async (vip) => ({ vip, ...(await flowsFor(runner, vip, protocol)) })))));
  }
  const without = counts.filter(({ flows }) => flows === 0).map(({ vip }) => vip);
  const what = `${protocol} flows of br-int`;
  if (without.length > 0) return [missing(what, `no flows for ${without.join(', ')}`, 'is ovn-controller running?')];
  const total = counts.reduce((sum, { flows }) => sum + flows, 0);
  const begun = counts.reduce((sum, one) => sum + one.begun, 0);
  return [ok(what, `${total} for ${counts.map(({ vip }) => vip).join(', ')}; ${begun} packets opened connections`)];
};

const ASKED_AT_ONCE = 8;

interface FlowCount {
  readonly flows: number;
  readonly begun: number;
}

const flowsFor = async (runner: ExplainSources['runner'], vip: string, protocol: string): Promise<FlowCount> => {
  const [, ip = '', port = ''] = /^\[?(.*?)\]?:([0-9]+)$/.exec(vip) ?? [];
  const kind = ip.includes(':') ? `${protocol}6,ipv6_dst=${ip}` : `${protocol},nw_dst=${ip}`;
  const flows = await dumpFlows(runner, 'br-int', `${kind},${protocol}_dst=${port}`);
  const fresh = flows.filter((flow) => /ct_state=[^,]*\+new/.test(flow.match));
  return { flows: flows.length, begun: fresh.reduce((sum, { packets }) => sum + packets, 0) };
};

/** Rows of the Service that no owner desires any longer. */
const strayChecks = ({ namespace, name }: ServiceStatus, { differences, unreadable }: DifferencesStatus): Check[] => {
  const owner = `"k8s.ovn.org/owner":"${namespace}/${name}"`;
  const isUnread = unreadable.find(({ backend }) => backend === 'northbound');
  return [
    ...(isUnread === undefined
      ? []
      : [unknown('differences', `the northbound database cannot be read: ${isUnread.message}`)]),
    ...differences
      .filter(({ kind, actual }) => kind === 'unwanted' && actual?.includes(owner) === true)
      .map(({ key }) =>
        missing('left over', `${key} is not desired`, 'the agent removes it; udnctl problems gives the reason'),
      ),
  ];
};
