import { describe, expect, it } from 'vitest';
import { parseIp } from '../../../net/ip.ts';
import { TestCluster } from '../../testing/cluster.ts';
import { PolicyIndex } from './policy-index.ts';
import { projectPolicy } from './policy-projection.ts';
import type { PolicyNamespace, PolicyPod } from './types.ts';

interface PodInput extends Partial<Pick<PolicyPod, 'isLocal' | 'finished' | 'labels'>> {
  /** By NAD key. */
  readonly ips?: Readonly<Record<string, readonly string[]>>;
  /** `http:80` */
  readonly ports?: readonly string[];
}

const setUp = () => {
  const cluster = new TestCluster('node1').namespace('red').namespace('blue').namespace('udn', true);
  const index = new PolicyIndex(cluster.facts, cluster.settings);
  const namespace = (name: string, labels: Record<string, string> = {}, log?: PolicyNamespace['log']): void =>
    index.changeNamespace(name, {
      name,
      labels: { 'kubernetes.io/metadata.name': name, ...labels },
      log,
      problems: [],
    });
  for (const name of ['red', 'blue', 'udn']) namespace(name);
  const pod = (key: string, input: PodInput | undefined): void => {
    const [ns = '', name = ''] = key.split('/');
    index.changePod(key, input && podOf(ns, name, input));
  };
  const policy = (key: string, spec: unknown, annotations = {}): void => {
    const [ns = '', name = ''] = key.split('/');
    const object = { metadata: { namespace: ns, name, uid: `uid-${name}`, annotations }, spec };
    index.changePolicy(key, spec === undefined ? undefined : projectPolicy(object));
  };
  const { facts } = cluster;
  return { cluster, facts, index, namespace, pod, policy, text: () => textOf(facts) };
};

const podOf = (namespace: string, name: string, { ips = {}, ports = [], ...rest }: PodInput): PolicyPod => ({
  ...{ namespace, name, labels: {}, isLocal: true, finished: false, ...rest },
  addresses: new Map(Object.entries(ips).map(([nad, texts]) => [nad, texts.map(parseIp)])),
  ports: ports.map((text) => ({ name: text.split(':')[0] ?? '', protocol: 'tcp', port: Number(text.split(':')[1]) })),
});

/** What the facts say, for people: each local pod with its rules, in which sets stand with their members. */
const textOf = (facts: TestCluster['facts']): Record<string, string[]> => {
  const members = (set: string): string =>
    [...facts.ids('policyPeer')]
      .flatMap((pod) => facts.get('policyPeer', pod)?.sets.get(set) ?? [])
      .sort()
      .join(' ');
  const ruleText = (id: string): string => {
    const rule = facts.get('policyRule', id);
    if (rule === undefined) return 'missing';
    const { peers, l4 } = rule;
    const whom =
      peers.kind === 'any' ? 'any' : peers.kind === 'blocks' ? peers.blocks.join(' ') : `[${members(peers.set)}]`;
    const what =
      l4 === undefined
        ? ''
        : ` ${l4.protocol}${l4.ports === undefined ? '' : `/${l4.ports.map((term) => (typeof term === 'number' ? term : term.join('-'))).join(',')}`}`;
    const log = rule.log === undefined ? '' : ` log ${rule.log.name} ${rule.log.severity}`;
    return `${rule.network} ${rule.direction}${rule.family} ${whom}${what}${rule.stateless === true ? ' stateless' : ''}${log}`;
  };
  const entries = [...facts.ids('podPolicy')].sort().map((key): [string, string[]] => {
    const { isolated = [], rules = [], network = '' } = facts.get('podPolicy', key) ?? {};
    return [key, [`${network}: ${isolated.join(' ')}`, ...rules.map(ruleText).sort()]];
  });
  return Object.fromEntries(entries);
};

const A = { labels: { app: 'a' }, ips: { default: ['10.128.0.5'] } };
const B = { labels: { app: 'b' }, ips: { default: ['10.128.2.6'] }, isLocal: false };

describe('a policy', () => {
  it('isolates and allows, whatever comes first', () => {
    const { policy, pod, text, facts } = setUp();
    policy('red/p', {
      podSelector: { matchLabels: { app: 'a' } },
      ingress: [{ from: [{ podSelector: {} }], ports: [{ port: 80 }] }],
    });
    expect(text()).toEqual({});
    pod('red/a', A);
    pod('red/b', B);
    pod('blue/b', { ...B, ips: { default: ['10.128.2.7'] } });
    expect(text()).toEqual({ 'red/a': ['default: Ingress', 'default Ingress4 [10.128.0.5 10.128.2.6] tcp/80'] });
    pod('red/b', undefined);
    expect(text()['red/a']).toContain('default Ingress4 [10.128.0.5] tcp/80');
    policy('red/p', undefined);
    expect(text()).toEqual({});
    for (const kind of ['policyRule', 'peerSet', 'denyGroup', 'policyPeer'] as const)
      expect([...facts.ids(kind)]).toEqual([]);
  });
});
