/** The agent's rules against two oracles: cyclonus, with all of the cases that it generates, and the one of the scenarios. */
import { beforeAll, describe, expect, it } from 'vitest';
import { PolicyIndex } from '../../agent/inputs/policies/policy-index.ts';
import { projectPolicy } from '../../agent/inputs/policies/policy-projection.ts';
import type { PolicyPod } from '../../agent/inputs/policies/types.ts';
import { TestCluster } from '../../agent/testing/cluster.ts';
import { parseIp } from '../../net/ip.ts';
import { type CyclonusStep, cyclonusCases } from '../oracles/policies/cyclonus.ts';
import { evaluate } from '../oracles/policies/evaluator.ts';
import { RuleVerdicts } from '../oracles/policies/rule-verdicts.ts';
import type { Policy, PolicyProtocol, World } from '../oracles/policies/types.ts';

describe.each([4, 6] as const)('with IPv%i', (family) => {
  let cases: Awaited<ReturnType<typeof cyclonusCases>>;
  beforeAll(async () => {
    cases = await cyclonusCases(family);
  }, 1_800_000);

  it('are all of them', () => {
    expect(cases).toHaveLength(230);
    const pairs = cases.flatMap(({ steps }) => steps.map(({ allowed }) => Object.keys(allowed).length));
    expect(Math.min(...pairs)).toBeGreaterThan(100);
    const forbidden = cases.flatMap(({ steps }) =>
      steps.flatMap(({ allowed }) => Object.values(allowed).filter((one) => !one)),
    );
    expect(forbidden.length).toBeGreaterThan(1000);
  });

  describe.each(['the default network', 'a network of three namespaces'])('on %s', (network) => {
    it('rules let through what cyclonus says', () => {
      for (const { title, steps } of cases) {
        for (const [index, step] of steps.entries()) {
          const verdicts = verdictsOf(step, network === 'the default network');
          expect(differences(step, verdicts), `${title}, step ${index + 1}`).toEqual([]);
        }
      }
    });
  });

  it('the oracle of the scenarios says what cyclonus says', () => {
    for (const { title, steps } of cases) {
      for (const [index, step] of steps.entries()) {
        const world = worldOf(step);
        const pod = (key: string) => world.pods.find(({ namespace, name }) => `${namespace}/${name}` === key);
        const said = differences(step, ({ from, to, protocol, port }) => {
          const [sender, receiver] = [pod(from), pod(to)];
          if (sender === undefined || receiver === undefined) throw new Error(`${from} or ${to} is not there`);
          const address = receiver.addresses[0] ?? '';
          return evaluate(world, { from: sender, to: receiver, address, protocol, port }).allowed;
        });
        expect(said, `${title}, step ${index + 1}`).toEqual([]);
      }
    }
  });
});

interface Asked {
  readonly from: string;
  readonly to: string;
  readonly protocol: PolicyProtocol;
  readonly port: number;
}

/** Of a pod to itself cyclonus has another opinion, and no plugin agrees with it (Kubernetes, issue 95879). */
const differences = ({ allowed }: CyclonusStep, verdict: (asked: Asked) => boolean): string[] =>
  Object.entries(allowed).flatMap(([text, isAllowed]) => {
    const [from = '', to = '', protocol = '', port = ''] = text.split(' ');
    if (from === to) return [];
    const found = verdict({ from, to, protocol: protocol as PolicyProtocol, port: Number(port) });
    return found === isAllowed ? [] : [`${text}: ${found ? 'allowed' : 'forbidden'}`];
  });

const CLUSTER_SUBNETS = '10.128.0.0/14/23,fd00:10:128::/48/64';
const SUBNETS = ['10.128.0.0/16', 'fd00:10:128::/64'] as const;

const verdictsOf = (step: CyclonusStep, isDefault: boolean): ((asked: Asked) => boolean) => {
  const cluster = new TestCluster('node1', { clusterSubnets: CLUSTER_SUBNETS }).node('node1', {
    id: 2,
    subnets: { default: [...SUBNETS] },
  });
  const namespaces = Object.keys(step.namespaces);
  const nadOf = (namespace: string): string => (isDefault ? 'default' : `${namespace}/net`);
  for (const name of namespaces) cluster.namespace(name, !isDefault);
  if (!isDefault) joinNetwork(cluster, namespaces);
  const index = new PolicyIndex(cluster);
  for (const [name, labels] of Object.entries(step.namespaces))
    index.changeNamespace(name, { name, labels, problems: [] });
  for (const pod of step.pods) index.changePod(`${pod.namespace}/${pod.name}`, podOf(pod, nadOf(pod.namespace)));
  for (const object of step.policies) {
    const { namespace, name } = object.metadata;
    const projection = projectPolicy(object as never);
    expect(projection.problems).toEqual([]);
    index.changePolicy(`${namespace}/${name}`, projection);
  }
  const addresses = new Map(step.pods.map(({ namespace, name, ip }) => [`${namespace}/${name}`, ip]));
  const ofPods = new Map([...addresses].map(([key, ip]) => [key, [ip]]));
  const rules = new RuleVerdicts(cluster.facts, cluster.render().northbound, ofPods);
  return ({ from, to, protocol, port }) =>
    rules.allows({
      ...{ from, to, port, protocol: protocol.toLowerCase() },
      ...{ source: addresses.get(from) ?? '', destination: addresses.get(to) ?? '' },
    });
};

/** One network of all of these namespaces. */
const joinNetwork = (cluster: TestCluster, [first = '', ...others]: readonly string[]): void => {
  const tunnelKeys = [16_711_686, 16_715_779];
  const about = { id: 3, topology: 'layer2', subnets: [...SUBNETS], tunnelKeys } as const;
  cluster.network('tenant', { ...about, namespace: first, nad: 'net' });
  for (const namespace of others) {
    cluster.facts.set('nad', `${namespace}/net`, 'tenant');
    cluster.facts.set('primaryNad', namespace, { nad: `${namespace}/net`, network: 'tenant' });
  }
};

const podOf = ({ namespace, name, labels, ip, ports }: CyclonusStep['pods'][number], nad: string): PolicyPod => ({
  ...{ namespace, name, labels, isLocal: true, finished: false },
  addresses: new Map([[nad, [parseIp(ip)]]]),
  ports: ports.map((one) => ({ ...one, protocol: one.protocol.toLowerCase() as 'tcp' })),
});

const worldOf = ({ namespaces, pods, policies }: CyclonusStep): World => ({
  namespaces: new Map(Object.entries(namespaces)),
  pods: pods.map(({ ip, ...pod }) => ({ ...pod, network: 'default', addresses: [ip] })),
  policies: policies.map(({ metadata, spec }) => ({ ...metadata, spec }) as Policy),
});
