import { describe, expect, it, vi } from 'vitest';
import { attachmentId } from '../../model/facts.ts';
import { denyGroupId, denyGroupName, peerSetName, targetSetName } from '../../model/policies/ids.ts';
import { MultiWorld } from '../../testing/multi-world.ts';
import { PolicyIndex } from './policy-index.ts';

const FLAT = 'cluster_udn_flat';
const DEFAULT = { default: ['10.128.0.3'] };
const ALL = { podSelector: {}, policyTypes: ['Ingress', 'Egress'] };

/** a/web is here, a/app and b/app on another node; a/app is not on the network. */
const world = (): MultiWorld =>
  new MultiWorld()
    .nad('a/flat')
    .nad('b/flat')
    .nad('a/bare')
    .namespace('a', { team: 'a' })
    .namespace('b', { team: 'b' })
    .pod('a/web', { labels: { app: 'web' }, ips: { ...DEFAULT, 'a/flat': ['10.1.0.3', 'fd01::3'] } })
    .pod('a/app', { isLocal: false, labels: { app: 'app' }, ips: { default: ['10.128.2.4'] } })
    .pod('b/app', {
      ...{ isLocal: false, labels: { app: 'app' } },
      ips: { default: ['10.128.2.5'], 'b/flat': ['10.1.0.5', 'fd01::5'] },
    });

const rulesOf = ({ facts }: MultiWorld, pod: string, network = FLAT) =>
  (facts.get('podPolicy', attachmentId(pod, network))?.rules ?? []).map((id) => facts.get('policyRule', id));
const peersOf = ({ facts }: MultiWorld) =>
  [...facts.ids('policyPeer')].map((id) => [id, [...(facts.get('policyPeer', id)?.sets.values() ?? [])].flat()]);

describe('a policy for a secondary network', () => {
  it('isolates attachments to it, and nothing else of the pod', () => {
    const it = world().policy('a/deny', 'flat', ALL);
    const group = denyGroupId({ network: FLAT });
    expect([...it.facts.ids('podPolicy')]).toEqual([attachmentId('a/web', FLAT)]);
    expect(it.facts.get('podPolicy', attachmentId('a/web', FLAT))).toEqual({
      ...{ network: FLAT, isolated: ['Ingress', 'Egress'], denyGroup: group, rules: [] },
    });
    expect(it.facts.get('denyGroup', group)).toEqual({ network: FLAT });
    expect(it.index.isolating('a/web', FLAT)).toEqual([
      { policy: 'MultiNetworkPolicy/a/deny', types: ['Ingress', 'Egress'] },
    ]);
  });

  it('has the peers that are on the same network, with their addresses there', () => {
    const ingress = [{ from: [{ namespaceSelector: {}, podSelector: { matchLabels: { app: 'app' } } }] }];
    const it = world().policy('a/p', 'a/flat', { podSelector: {}, ingress });
    expect(peersOf(it)).toEqual([[attachmentId('b/app', FLAT), ['10.1.0.5', 'fd01::5']]]);
    const rules = rulesOf(it, 'a/web').map((rule) => `${rule?.network} ${rule?.family}`);
    expect(rules.sort()).toEqual([`${FLAT} 4`, `${FLAT} 6`]);
    // Its labels are followed, and who leaves the network is no peer.
    it.pod('b/app', {
      isLocal: false,
      labels: { app: 'db' },
      ips: { default: ['10.128.2.5'], 'b/flat': ['10.1.0.5'] },
    });
    expect(peersOf(it)).toEqual([]);
    it.pod('b/app', { isLocal: false, labels: { app: 'app' }, ips: { default: ['10.128.2.5'] } });
    expect(peersOf(it)).toEqual([]);
    it.namespace('b', { team: 'c' });
    expect(it.index.problems()).toEqual([]);
  });

  it('is for all that it names, and ends with the annotation', () => {
    const it = world().nad('a/wide');
    it.pod('a/web', { ips: { ...DEFAULT, 'a/flat': ['10.1.0.3'], 'a/wide': ['10.2.1.3'], 'a/wide/1': ['10.2.1.4'] } });
    it.policy('a/p', 'flat, a/wide', ALL);
    expect([...it.facts.ids('multiPolicies')]).toEqual([FLAT, 'a_wide']);
    expect(it.index.describe('a/p')).toMatchObject({
      kind: 'MultiNetworkPolicy',
      network: `${FLAT}, a_wide`,
      targets: [attachmentId('a/web', FLAT), attachmentId('a/web', 'a_wide')],
    });
    it.policy('a/p', 'wide', ALL);
    expect([...it.facts.ids('podPolicy')]).toEqual([attachmentId('a/web', 'a_wide')]);
    it.policy('a/p', null, ALL);
    expect(it.made()).toEqual({});
    expect(it.index.problems()).toMatchObject([{ severity: 'warning', message: /^it is for no network: / }]);
    it.policy('a/p', 'wide', ALL).policy('a/p', null, undefined);
    expect([it.made(), it.index.problems()]).toEqual([{}, []]);
  });

  it('holds a new attachment until it is known which policies it is under', () => {
    const it = world().policy('a/deny', 'flat', ALL);
    const view = it.cluster;
    const isDecided = (pod: string) => view.facts.get('decidedPod', attachmentId(pod, FLAT));
    expect([isDecided('a/web'), isDecided('a/late')]).toEqual([true, undefined]);
    it.pod('a/late', { ips: { 'a/flat': ['10.1.0.9'] } });
    expect(isDecided('a/late')).toBe(true);
    expect(it.facts.get('podPolicy', attachmentId('a/late', FLAT))?.isolated).toEqual(['Ingress', 'Egress']);
  });

  it('waits for the network that it names, and follows the NAD to another one', () => {
    const it = new MultiWorld().namespace('a').policy('a/p', 'flat, none', ALL);
    it.pod('a/web', { ips: { ...DEFAULT, 'a/flat': ['10.1.0.3'] } });
    const notes = () => it.index.problems().map(({ message }) => message);
    expect(notes()).toMatchObject([
      /a\/flat does not exist, or its network has no id yet: the policy is not in effect there$/,
      /a\/none does not exist/,
    ]);
    it.nad('a/flat');
    expect(notes()).toMatchObject([/a\/none does not exist/]);
    expect([...it.facts.ids('podPolicy')]).toEqual([attachmentId('a/web', FLAT)]);
    it.nad('a/bare').facts.set('nad', 'a/flat', 'a_bare');
    expect([...it.facts.ids('podPolicy')]).toEqual([attachmentId('a/web', 'a_bare')]);
    it.nad('a/flat', false);
    expect(it.made()).toEqual({});
  });

  it('says of NADs that it names them in vain, those of other plugins too', () => {
    const it = world().policy('a/p', 'mac, own', ALL);
    it.cluster.foreignNad('a/mac');
    it.cluster.network('a_own', { id: 20, topology: 'layer3', subnets: ['10.9.0.0/16'], namespace: 'a', nad: 'own' });
    expect(it.index.problems().map(({ message }) => message)).toEqual([
      'k8s.v1.cni.cncf.io/policy-for: NetworkAttachmentDefinition a/mac is of another plugin: ovn-udn does not enforce the policy there',
      'k8s.v1.cni.cncf.io/policy-for: NetworkAttachmentDefinition a/own is of a primary network, whose pods are for NetworkPolicies: the policy is not in effect there',
    ]);
  });
});

describe('a network that all namespaces may use', () => {
  it('has peers by the NAD of another namespace, where it is theirs to use', () => {
    const it = new MultiWorld().nad('default/all').nad('a/flat').namespace('a').namespace('b');
    const from = [{ namespaceSelector: {} }];
    it.policy('a/p', 'default/all', { podSelector: {}, ingress: [{ from }] }).policy('a/q', 'flat', {
      ...{ podSelector: {}, ingress: [{ from }] },
    });
    it.pod('b/app', {
      isLocal: false,
      ips: { default: ['10.128.2.5'], 'default/all': ['10.4.0.5'], 'a/flat': ['10.1.0.5'] },
    });
    expect(peersOf(it)).toEqual([]);
    it.pod('a/web', { ips: { ...DEFAULT, 'default/all': ['10.4.0.3'], 'a/flat': ['10.1.0.3'] } });
    expect(peersOf(it).sort()).toEqual([
      [attachmentId('a/web', 'all'), ['10.4.0.3']],
      [attachmentId('a/web', FLAT), ['10.1.0.3']],
      [attachmentId('b/app', 'all'), ['10.4.0.5']],
    ]);
  });
});

describe('a network without IPAM', () => {
  const bare = () =>
    world()
      .pod('a/web', { labels: { app: 'web' }, ips: { ...DEFAULT, 'a/bare': [] } })
      .pod('a/peer', {
        ...{ labels: { app: 'peer' }, isLocal: false },
        ips: { default: ['10.128.2.7'], 'a/bare': [] },
      });

  it('has rules by port, and selects no peers: it says so', () => {
    const it = bare().policy('a/p', 'bare', {
      podSelector: { matchLabels: { app: 'web' } },
      ingress: [
        { from: [{ ipBlock: { cidr: '192.0.2.0/24' } }], ports: [{ port: 80 }] },
        { from: [{ podSelector: { matchLabels: { app: 'peer' } } }] },
      ],
    });
    expect(peersOf(it)).toEqual([]);
    expect(it.index.problems()).toEqual([
      {
        object: 'MultiNetworkPolicy/a/p',
        severity: 'warning',
        message:
          'on network a_bare: pods app=peer in namespace a are no peers: the network has no IPAM, so no address of a pod is known',
      },
    ]);
    const mac = '0a:58:0a:01:00:03';
    it.cluster.pod('a/web', {
      ...{ node: 'node1', networks: { default: { ips: ['10.128.0.3/23'] } } },
    });
    const fact = it.facts.get('pod', 'a/web');
    const entry = { mac, ipAddresses: [], gatewayIps: [], routes: [], role: 'secondary', tunnelId: 7 };
    if (fact === undefined) throw new Error('there is no pod');
    it.facts.set('pod', 'a/web', { ...fact, networks: new Map([...fact.networks, ['a/bare', entry as never]]) });
    const { northbound } = it.cluster.render();
    const acls = (northbound['ACL'] ?? []).map(({ match }) => match as string);
    const rules = it.facts.get('podPolicy', attachmentId('a/web', 'a_bare'))?.rules ?? [];
    const block = rules.find((id) => it.facts.get('policyRule', id)?.peers.kind === 'blocks') ?? '';
    expect(acls).toContain(
      `ip4.src == 192.0.2.0/24 && tcp && tcp.dst == 80 && ip4 && outport == @${targetSetName(block)}`,
    );
    const port = 'Logical_Switch_Port/a.bare_a_web';
    const groups = new Map((northbound['Port_Group'] ?? []).map((row) => [row['name'], row['ports']]));
    expect(groups.get(targetSetName(block))).toEqual([port]);
    expect(groups.get(denyGroupName(denyGroupId({ network: 'a_bare' }), 'Ingress'))).toEqual([port]);
  });
});

describe('what cannot be read', () => {
  it.each([
    [{ podSelector: { matchLabels: { app: 'web' } }, ingress: [{ from: [{ fqdn: 'x' }] }] }, 'flat', /spec.ingress/],
    [{ podSelector: {}, ingress: [{}] }, 'flat, x y', /policy-for"\]: \[1\]: "x y" is not NAME or NAMESPACE\/NAME/],
    [{ podSelector: {}, ingress: [{}] }, `flat,${'n,'.repeat(40)}`, /must have at most 32 items, has 41/],
    [{ podSelector: {}, ingress: [{}] }, `${'n,'.repeat(40)}flat`, /must have at most 32 items, has 41/],
  ])('isolates its pods on the networks that it names: %j', (spec, policyFor, message) => {
    const it = world().policy('a/p', policyFor, spec);
    expect(it.facts.get('podPolicy', attachmentId('a/web', FLAT))).toMatchObject({ isolated: ['Ingress'], rules: [] });
    const [problem] = it.index.problems();
    expect(problem).toMatchObject({ object: 'MultiNetworkPolicy/a/p', cause: 'object-unreadable' });
    expect(problem?.message).toMatch(message);
    expect(problem?.message.match(/; the policy isolates its pods and allows nothing/g)).toHaveLength(1);
    it.policy('a/p', 'flat', { podSelector: {}, ingress: [{}] });
    expect(it.facts.get('podPolicy', attachmentId('a/web', FLAT))?.rules).toHaveLength(2);
  });

  it('isolates, when it is the agent that fails', () => {
    const fails = vi.spyOn(PolicyIndex.prototype, 'changePolicy').mockImplementation(() => {
      throw new Error('it fails');
    });
    const it = world();
    expect(() => it.policy('a/p', 'flat', ALL)).toThrow('it fails');
    fails.mockRestore();
    it.policy('a/p', 'flat', ALL);
    expect(it.facts.get('podPolicy', attachmentId('a/web', FLAT))?.isolated).toEqual(['Ingress', 'Egress']);
  });
});

it('gives rows to a pod with its port, on that network alone', () => {
  const it = world().policy('a/p', 'flat', { podSelector: {}, ingress: [{ from: [{ namespaceSelector: {} }] }] });
  it.cluster.pod('a/web', {
    node: 'node1',
    selects: 'flat',
    networks: {
      default: { ips: ['10.128.0.3/23'] },
      'a/flat': { ips: ['10.1.0.3/16', 'fd01::3/64'], tunnelId: 5, role: 'secondary' },
    },
  });
  const { northbound } = it.cluster.render();
  const named = (table: string, name: string) => northbound[table]?.find((row) => row['name'] === name);
  const group = denyGroupName(denyGroupId({ network: FLAT }), 'Ingress');
  expect(named('Port_Group', group)?.['ports']).toEqual(['Logical_Switch_Port/a.flat_a_web']);
  const [set = ''] = it.facts.ids('peerSet');
  expect(named('Address_Set', peerSetName(set, 6))?.['addresses']).toEqual(['fd01::3', 'fd01::5']);
  const rule = (it.facts.get('podPolicy', attachmentId('a/web', FLAT))?.rules ?? []).find(
    (id) => it.facts.get('policyRule', id)?.family === 4,
  );
  expect(named('Address_Set', targetSetName(rule ?? ''))?.['addresses']).toEqual(['10.1.0.3']);
  const onSwitch = named('Logical_Switch', 'cluster_udn_flat_ovn_layer2_switch')?.['acls'] as string[];
  expect(onSwitch.filter((key) => key.includes('NetpolRule'))).toHaveLength(2);
});
