/**
 * By what a Service is reached from outside, from other networks and from the host, and by what its endpoints on the node are: its
 * flows of the gateway bridge and its elements of nftables, as the agent wants them, with what has come by them.
 */
import type { DesiredStatus, DifferencesStatus, NodeStatus } from '../../api/agent-status.ts';
import { elementForm } from '../../datapath/nftables/element-form.ts';
import type { TableState } from '../../datapath/nftables/table-state.ts';
import { dumpFlows, type Flow } from '../flows/flow-dump.ts';
import { type BridgePort, readPorts } from '../trace/port-names.ts';
import { type Check, missing, ok, unknown } from './check.ts';
import { attempt, type ExplainSources } from './sources.ts';

/** @param key `namespace/name` */
export const entryPointChecks = async (
  { agent, runner, hostTable }: ExplainSources,
  key: string,
  { gateway }: NodeStatus,
  report: DifferencesStatus | undefined,
): Promise<Check[]> => {
  const asked = await attempt('agent', async () => (await agent.desired()).filter((one) => isOf(one, key)));
  if ('failed' in asked) return [asked.failed];
  const of = (backend: DesiredStatus['backend']): readonly DesiredStatus[] =>
    asked.value.filter((one) => one.backend === backend);
  const [flows, elements] = [of('openflow'), of('nftables')];
  const bridge = gateway?.bridge ?? '';
  const checks = [
    flows.length === 0
      ? []
      : attempt(`flows of ${bridge}`, async () =>
          flowChecks(flows, report, bridge, await dumpFlows(runner, bridge), await readPorts(runner)),
        ),
    elements.length === 0 ? [] : attempt('nftables', async () => elementChecks(elements, report, await hostTable())),
  ];
  return (await Promise.all(checks)).flatMap((found) =>
    'failed' in found ? [found.failed] : 'value' in found ? found.value : found,
  );
};

/** Features of Services; a pod may have the same name. */
const FEATURES = [
  'service-flows',
  'service-nftables',
  'service-internal',
  'service-host-endpoints',
  'service-cluster-ips',
];

const isOf = ({ owners }: DesiredStatus, key: string): boolean =>
  FEATURES.some((feature) => owners.includes(`${feature}:${key}`));

/** One for each address and port. */
const flowChecks = (
  desired: readonly DesiredStatus[],
  report: DifferencesStatus | undefined,
  bridge: string,
  flows: readonly Flow[],
  ports: readonly BridgePort[],
): Check[] => {
  const numbers = new Map(ports.flatMap((one) => (one.bridge === bridge ? [[one.name, one.ofport] as const] : [])));
  const counts = new Map(flows.map((flow) => [`${flow.table} ${flow.priority} ${fieldsOf(flow.match)}`, flow.packets]));
  const described = desired.map((one) => {
    const [, , table = '', priority = '', match = ''] = one.key.split(' ');
    const fields = fieldsOf(match.replace(/\bin_port=([^,]+)/, (_, name) => `in_port=${numbers.get(name) ?? name}`));
    const packets = counts.get(`${table} ${priority} ${fields}`);
    const text = `table ${table} priority ${priority}${packets === undefined ? '' : ` (${packets} packets)`}`;
    return { one, entryPoint: entryPointOf(match), text };
  });
  return [...Map.groupBy(described, ({ entryPoint }) => entryPoint)].map(([entryPoint, members]) =>
    checked(
      `${bridge} ${entryPoint}`,
      members.map(({ one }) => one),
      report,
      members.map(({ text }) => text).join(', '),
    ),
  );
};

/** ovs-ofctl has an order of its own. */
const fieldsOf = (match: string): string => match.split(',').toSorted().join(',');

/** `172.20.0.11:31080/tcp`: the end of the Service, whichever way the packet goes. `172.20.0.11/icmp`: ICMP errors have no port. */
const entryPointOf = (match: string): string => {
  const fields = match.split(',');
  const value = (...names: string[]): string =>
    fields.find((field) => names.includes(field.split('=')[0] ?? ''))?.replace(/^[^=]*=/, '') ?? '';
  const error = fields.find((field) => field === 'icmp' || field === 'icmp6');
  if (error !== undefined) return `${value('nw_src', 'ipv6_src')}/${error}`;
  const isAnswer = fields.some((field) => field.startsWith('tp_src='));
  const ip = isAnswer ? value('nw_src', 'ipv6_src') : value('nw_dst', 'ipv6_dst');
  const protocol = fields.find((field) => /^(tcp|udp|sctp)6?$/.test(field))?.replace('6', '') ?? '';
  return `${ip.includes(':') ? `[${ip}]` : ip}:${value('tp_src', 'tp_dst')}/${protocol}`;
};

/** One for each key: several maps have the same, each for another purpose. */
const elementChecks = (
  desired: readonly DesiredStatus[],
  report: DifferencesStatus | undefined,
  table: TableState | undefined,
): Check[] => {
  const described = desired.map((one) => {
    const [, set = '', key = ''] = /^element (\S+) (.*)$/s.exec(one.key) ?? [];
    return { one, key, text: `${set}${valueText(table, set, key)}` };
  });
  return [...Map.groupBy(described, ({ key }) => key)].map(([key, members]) =>
    checked(
      `nftables ${key}`,
      members.map(({ one }) => one),
      report,
      members.map(({ text }) => text).join(', '),
    ),
  );
};

/** Where the map leads to, in the kernel. */
const valueText = (table: TableState | undefined, set: string, key: string): string => {
  const found = table?.sets.get(set);
  const type = found?.header.find((line) => line.startsWith('type '))?.slice('type '.length) ?? '';
  const value = found?.elements.get(elementForm(type.split(' : ')[0] ?? '', key))?.value;
  return value === undefined ? '' : ` → ${value}`;
};

/** As the agent finds it, which has read everything again. */
const checked = (
  what: string,
  desired: readonly DesiredStatus[],
  report: DifferencesStatus | undefined,
  text: string,
): Check => {
  const [first] = desired;
  if (report === undefined) return unknown(what, `${text}: the actual state is unknown`);
  const unread = report.unreadable.find(({ backend }) => backend === first?.backend);
  if (unread !== undefined) return unknown(what, `cannot be read: ${unread.message}`);
  const lack = report.unsupported.find((one) => desired.some(({ key }) => key === one.key));
  if (lack !== undefined) return unknown(what, `not supported: ${lack.message}`);
  const wrong = report.differences.filter((one) =>
    desired.some(({ key, backend }) => one.key === key && one.backend === backend),
  );
  if (wrong.length === 0) return ok(what, text);
  const texts = wrong.map(
    ({ key, kind, problem }) => `${key} is ${kind}${problem === undefined ? '' : ` (${problem})`}`,
  );
  return missing(what, texts.join('; '), 'udnctl diff shows it; udnctl problems gives the reason');
};
