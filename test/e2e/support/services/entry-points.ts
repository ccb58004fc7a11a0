/** Services that are reached from outside, as tests make them, and who asks them. */
import { SERVICES } from '../../../../kube/resources.ts';
import { FAMILIES, ipFamily, parseIp } from '../../../../net/ip.ts';
import type { ManifestObject, Sandbox } from '../../../../sandbox/index.ts';
import { type Attempt, askFrom, type RunThere, type Target } from '../../../oracles/reachability/service-clients.ts';
import { nodeAddress } from '../networks/north-south.ts';
import { service } from './services.ts';

/** What a Service has besides its ClusterIPs. TCP and UDP have the same number. */
export interface EntryPoints {
  readonly nodePort: number;
  readonly externalIps: readonly string[];
  /** Addresses that a load balancer has given it. */
  readonly ingress: readonly string[];
}

/** Of the blocks for documentation (RFC 5737, RFC 3849): nobody on the node network has them. @param index up to 99 */
export const entryPointsOf = (index: number): EntryPoints => ({
  nodePort: 30_100 + index,
  externalIps: [`203.0.113.${100 + index}`, `2001:db8:113::${100 + index}`],
  ingress: [`198.51.100.${100 + index}`, `2001:db8:51::${100 + index}`],
});

export const publicService = (
  namespace: string,
  name: string,
  app: string,
  { nodePort, externalIps }: EntryPoints,
  spec: Readonly<Record<string, unknown>> = {},
): ManifestObject => {
  const made = service(namespace, name, { app });
  const { ports, ...rest } = made['spec'] as { ports: readonly object[] };
  return {
    ...made,
    spec: {
      ...rest,
      type: 'LoadBalancer',
      externalIPs: externalIps,
      ports: ports.map((port) => ({ ...port, nodePort })),
      ...spec,
    },
  };
};

/** As a load balancer's controller does. @param key `namespace/name` */
export const giveIngress = async (sandbox: Sandbox, key: string, { ingress }: EntryPoints): Promise<void> => {
  const [namespace = '', name = ''] = key.split('/');
  const body = { status: { loadBalancer: { ingress: ingress.map((ip) => ({ ip })) } } };
  await (await sandbox.client()).patch(
    SERVICES,
    { namespace, name },
    { type: 'merge', body },
    { subresource: 'status' },
  );
};

/** Both protocols, both families. */
export const nodePortTargets = (node: string, { nodePort }: EntryPoints): Target[] =>
  FAMILIES.flatMap((family) => at(nodeAddress(node, family), nodePort, nodePort));

export const addressTargets = ({ externalIps, ingress }: EntryPoints): Target[] =>
  [...externalIps, ...ingress].flatMap((ip) => at(ip, 80, 53));

const at = (ip: string, tcp: number, udp: number): Target[] => [
  { ip, port: tcp, protocol: 'TCP' },
  { ip, port: udp, protocol: 'UDP' },
];

/** On the host outside: addresses that nobody has are behind a node. */
export const routeBy = async (sandbox: Sandbox, node: string, { externalIps, ingress }: EntryPoints): Promise<void> => {
  const commands = [...externalIps, ...ingress].map((text) => {
    const ip = parseIp(text);
    return `ip -${ipFamily(ip)} route replace ${ip} via ${nodeAddress(node, ipFamily(ip))}`;
  });
  await sandbox.outside(['sh', '-ec', commands.join('\n')]);
};

export const fromOutside =
  (sandbox: Sandbox): RunThere =>
  (argv, options) =>
    sandbox.outside(argv, options);

export const fromHost =
  (sandbox: Sandbox, node: string): RunThere =>
  (argv, options) =>
    sandbox.node(node, argv, options);

export const fromPod =
  (sandbox: Sandbox, pod: string): RunThere =>
  (argv, options) =>
    sandbox.exec(pod, argv, options);

/** A line for each that was answered: `TCP 172.20.0.11:30100 → red-web-node-1`. */
export const whoAnswers = async (run: RunThere, targets: readonly Target[], times = 1): Promise<string[]> => {
  const asked = targets.flatMap((target) => Array.from({ length: times }, () => target));
  const attempts = await askFrom(run, asked);
  return [...new Set(asked.map((target, index) => `${describeTarget(target)} → ${textOf(attempts[index])}`))].sort();
};

export const describeTarget = ({ ip, port, protocol }: Target): string => `${protocol} ${ip} ${port}`;

const textOf = (attempt: Attempt | undefined): string =>
  attempt?.outcome === 'answered' ? attempt.text : `(${attempt?.outcome})`;

/** What `whoAnswers` says when every target is answered by all of these in turn. */
export const answeredBy = (targets: readonly Target[], names: readonly string[]): string[] =>
  targets.flatMap((target) => names.map((name) => `${describeTarget(target)} → ${name}`)).sort();
