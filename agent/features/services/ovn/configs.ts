/** The load balancers of a Service on this node: what each has, and where it is. */
import { SERVICE_PROTOCOLS, type ServiceProtocol } from '../../../../api/service.ts';
import { type LocalNode, type PortRules, portRules, type Rule, type RuleInput } from '../rules.ts';

/** As in the name of the load balancer. */
export type Scope = 'cluster' | 'node_router+switch' | 'node_router' | 'node_local_router' | 'node_switch';

export interface LoadBalancerConfig {
  readonly scope: Scope;
  readonly protocol: ServiceProtocol;
  /** `address:port` → where it is sent, with commas between. */
  readonly vips: Readonly<Record<string, string>>;
  /** What nobody is behind, where others of this scope have somebody. */
  readonly isApart?: true;
}

/** OVN has no two load balancers with one address and port on a switch or router, so these have none in common there. */
export const loadBalancerConfigs = (input: RuleInput): LoadBalancerConfig[] =>
  SERVICE_PROTOCOLS.flatMap((protocol) => {
    const ports = input.service.ports.filter((port) => port.protocol === protocol);
    if (ports.length === 0) return [];
    const rules = ports.map((port) => portRules(input, port));
    return configsOf(rules, input.node)
      .flatMap(apart)
      .map((config) => ({ ...config, protocol }));
  });

type Config = Omit<LoadBalancerConfig, 'protocol'>;

const configsOf = (ports: readonly PortRules[], node: LocalNode): Config[] => [
  ...some(
    'cluster',
    ports.flatMap(({ common }) => common.map(({ vip, onSwitch }): Entry => [vip, onSwitch])),
  ),
  ...nodeConfigs(
    ports.flatMap(({ ofNode }) => ofNode),
    node,
  ),
];

/** One for both places where they are to do the same. */
const nodeConfigs = (rules: readonly Rule[], node: LocalNode): Config[] => {
  if (rules.length === 0) return [];
  const { hasRouter } = node;
  const onSwitch = some(
    'node_switch',
    rules.map(({ vip, onSwitch: to }): Entry => [vip, to]),
  );
  const atRouter = (keepsSource: boolean): Entry[] =>
    rules.flatMap((rule): Entry[] =>
      hasRouter && rule.onRouter !== undefined && (rule.keepsSource === true) === keepsSource
        ? [[rule.vip, rule.onRouter]]
        : [],
    );
  const onRouter = some('node_router', atRouter(false));
  const both = onSwitch[0]?.vips;
  return both !== undefined && isSame(both, onRouter[0]?.vips)
    ? [{ scope: 'node_router+switch', vips: both }]
    : [...onSwitch, ...onRouter, ...some('node_local_router', atRouter(true))];
};

/**
 * At the gateway router a row leaves all of its clients their addresses or none: what is refused has a row of its own
 * there, as a reset that comes from another address than the one that was called is none. Where all keep theirs anyway it
 * stays where it is, whether somebody is behind it or not: northd recreates everything for a row that leaves a router.
 */
const apart = (config: Config): Config[] => {
  const isRefused = ([, targets]: readonly [string, string]): boolean => targets === '';
  const all = Object.entries(config.vips);
  const refused = all.filter(isRefused);
  const isWhole = config.scope === 'node_switch' || config.scope === 'node_local_router';
  if (isWhole || refused.length === 0 || refused.length === all.length) return [config];
  const answered = all.filter((one) => !isRefused(one));
  return [
    { ...config, vips: Object.fromEntries(answered) },
    { ...config, vips: Object.fromEntries(refused), isApart: true },
  ];
};

type Vips = LoadBalancerConfig['vips'];

const isSame = (a: Vips, b: Vips = {}): boolean =>
  Object.keys(a).length === Object.keys(b).length && Object.entries(a).every(([vip, targets]) => b[vip] === targets);

type Entry = readonly [vip: string, targets: readonly string[]];

const some = (scope: Scope, entries: readonly Entry[]): Config[] =>
  entries.length === 0
    ? []
    : [{ scope, vips: Object.fromEntries(entries.map(([vip, targets]) => [vip, targets.join(',')])) }];
