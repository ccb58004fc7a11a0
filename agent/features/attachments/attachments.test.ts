import { describe, expect, it } from 'vitest';
import type { LocalSettings } from '../../model/view.ts';
import { type NetworkInput, TestCluster } from '../../testing/cluster.ts';

const cluster = (local: Partial<LocalSettings> = {}): TestCluster =>
  new TestCluster('node1', {}, local)
    .node('node1', { id: 2, subnets: { default: ['10.128.0.0/23'], red: ['10.20.1.0/24'] } })
    .namespace('plain')
    .namespace('red', true)
    .network('red', { id: 1, topology: 'layer3', subnets: ['10.20.0.0/16'], namespace: 'red', nad: 'net' });

const attachmentsOf = (it: TestCluster, pod: string) => {
  it.render();
  const found = it.sinks.attachments.get(`attachments:${pod}`);
  return found?.waitingFor ?? found?.attachments.map((one) => [one.nadKey, one.role, one.interfaceName, one.givenBy]);
};

describe('a pod is attached to', () => {
  it('the default network alone where the namespace has no label', () => {
    const it = cluster().pod('plain/a', { node: 'node1', networks: {} });
    expect(attachmentsOf(it, 'plain/a')).toEqual([['default', 'primary', 'eth0', 'node']]);
  });

  it('the primary network of its namespace, and locked to the default one', () => {
    const it = cluster().pod('red/a', { node: 'node1', networks: {} });
    expect(attachmentsOf(it, 'red/a')).toEqual([
      ['default', 'infrastructure-locked', 'eth0', 'node'],
      ['red/net', 'primary', 'ovn-udn1', 'node'],
    ]);
  });

  it('a layer-2 network whose addresses come from the cluster manager', () => {
    const it = cluster()
      .namespace('green', true)
      .network('green', { id: 2, topology: 'layer2', subnets: ['10.30.0.0/16'], namespace: 'green', nad: 'net' })
      .pod('green/a', { node: 'node1', networks: {} });
    expect(attachmentsOf(it, 'green/a')?.[1]).toEqual(['green/net', 'primary', 'ovn-udn1', 'cluster']);
  });

  it('nothing on another node, and nothing when it is finished', () => {
    const it = cluster()
      .pod('plain/a', { node: 'node2', networks: {} })
      .pod('plain/b', { node: 'node1', networks: {}, finished: true });
    expect(attachmentsOf(it, 'plain/a')).toBeUndefined();
    expect(attachmentsOf(it, 'plain/b')).toBeUndefined();
  });
});

it('keys of a NAD of ours that have no effect are a diagnostic, those of another plugin are its own', () => {
  const ignored = [
    { nad: 'red/net', message: 'bandwidth of red/net has no effect' },
    { nad: 'red/macvlan', message: 'bandwidth of red/macvlan has no effect' },
    { message: 'requested-primary-udn has no effect' },
  ];
  const it = cluster().foreignNad('red/macvlan').pod('red/a', { node: 'node1', networks: {}, ignored });
  it.render();
  expect(it.sinks.attachments.get('attachments:red/a')?.ignored).toEqual([
    'bandwidth of red/net has no effect',
    'requested-primary-udn has no effect',
  ]);
});

describe('a pod waits', () => {
  it('for the primary network that the label of its namespace promises', () => {
    const it = cluster().namespace('blue', true).pod('blue/a', { node: 'node1', networks: {} });
    expect(attachmentsOf(it, 'blue/a')).toMatch(/namespace blue has the label .* and no primary network yet/);
    it.network('blue', { id: 4, topology: 'layer2', subnets: ['10.40.0.0/16'], namespace: 'blue', nad: 'net' });
    expect(attachmentsOf(it, 'blue/a')).toHaveLength(2);
  });

  it('for its namespace, and for a subnet of its node', () => {
    const it = cluster()
      .pod('later/a', { node: 'node1', networks: {} })
      .namespace('wide', true)
      .network('wide', { id: 5, topology: 'layer3', subnets: ['10.50.0.0/16'], namespace: 'wide', nad: 'net' })
      .pod('wide/a', { node: 'node1', networks: {} });
    expect(attachmentsOf(it, 'later/a')).toBe('namespace later is not known yet');
    expect(attachmentsOf(it, 'wide/a')).toBe('node node1 has no subnet of network wide yet');
  });
});

describe('a pod that selects networks', () => {
  const secondary = (name: string, input: Partial<NetworkInput> = {}): NetworkInput => ({
    ...{ id: 20, topology: 'layer2', role: 'secondary', subnets: ['10.90.0.0/24'], namespace: 'red', nad: name },
    ...input,
  });
  const selecting = (
    selects: string,
    before = (it: TestCluster): TestCluster => it,
    local: Partial<LocalSettings> = {},
  ): TestCluster =>
    before(
      cluster(local)
        .network('red_flat', secondary('flat'))
        .network('red_wide', secondary('wide', { id: 21, topology: 'layer3', subnets: ['10.91.0.0/16'] }))
        .subnets('node1', 'red_wide', ['10.91.1.0/24']),
    ).pod('red/a', { node: 'node1', networks: {}, selects });
  const found = (it: TestCluster) => {
    it.render();
    return it.sinks.attachments.get('attachments:red/a');
  };

  it('is attached to them behind its own, in their order', () => {
    expect(found(selecting('wide@w,flat,wide'))?.attachments.slice(2)).toMatchObject([
      {
        nadKey: 'red/wide',
        role: 'secondary',
        interfaceName: 'w',
        index: 2,
        givenBy: 'node',
        subnets: ['10.91.1.0/24'],
      },
      { nadKey: 'red/flat', role: 'secondary', interfaceName: 'net2', index: 3, givenBy: 'cluster', subnets: [] },
      { nadKey: 'red/wide/1', role: 'secondary', interfaceName: 'net3', index: 4, givenBy: 'node' },
    ]);
  });

  it('leaves those of other plugins to Multus where that makes them, and they have their places in the list', () => {
    const foreign = (it: TestCluster): TestCluster => it.foreignNad('red/macvlan');
    const attachments = found(selecting('macvlan,flat', foreign, { multiNetwork: 'delegated' }));
    expect(attachments?.foreign).toBeUndefined();
    expect(attachments?.attachments[2]).toMatchObject({
      interfaceName: 'net2',
      index: 3,
    });
  });

  it('is refused, when a list has other plugins beside ours, which nobody would execute', () => {
    const it = selecting('flat');
    it.facts.set('nadBeside', 'red/flat', ['tuning']);
    expect(found(it)?.refused).toBe('red/flat as net1: plugins: tuning beside ours would not be executed');
    it.facts.set('nadBeside', 'red/flat', undefined);
    expect(found(it)?.refused).toBeUndefined();
  });

  it('is refused, when nobody can read what', () => {
    const it = selecting('flat').pod('red/a', { node: 'node1', networks: {}, unreadableSelection: 'name: is missing' });
    expect(found(it)?.refused).toBe('name: is missing');
  });

  const other = (it: TestCluster): TestCluster =>
    it
      .network('blue_flat', secondary('flat', { namespace: 'blue', id: 22 }))
      .network('red_near', secondary('near', { id: 23, subnets: ['10.90.0.128/25'] }))
      .network('red_inside', secondary('inside', { id: 24, subnets: ['10.20.3.0/24'] }))
      .network('red_phys', secondary('phys', { id: 25, topology: 'localnet' }));

  it.each([
    ['none', /^NetworkAttachmentDefinition red\/none does not exist, or cannot be read: the pod selects it as net1$/],
    [
      'blue/flat',
      /^network blue_flat is not for namespace red: NetworkAttachmentDefinition blue\/flat gives no address to its pods/,
    ],
    ['net', /^red\/net as net1: a primary network cannot be selected$/],
    [
      'phys',
      /^red\/phys as net1: network red_phys is not on node node1: ovn-bridge-mappings of its Open vSwitch has no bridge for physical network physnet$/,
    ],
    [
      'flat,near',
      /^10.90.0.0\/24 of network red_flat overlaps 10.90.0.128\/25 of network red_near: a pod reaches only/,
    ],
    ['inside', /^10.20.0.0\/16 of network red overlaps 10.20.3.0\/24 of network red_inside/],
    ['[{"name":"wide","ips":["10.91.1.9"]}]', /^red\/wide as net1: ips: /],
    ['[{"name":"wide","ipam-claim-reference":"c"}]', /^red\/wide as net1: ipam-claim-reference: /],
  ])('that cannot be followed is refused, and keeps its own: %s', (selects, message) => {
    const refused = found(selecting(selects, other));
    expect(refused?.refused).toMatch(message);
    expect(refused?.attachments.map(({ nadKey }) => nadKey)).toEqual(['default', 'red/net']);
  });

  it('keeps what it has been given, in its place, when another one cannot be followed any more', () => {
    const it = selecting('none,flat').pod('red/a', {
      ...{ node: 'node1', selects: 'none,flat,wide' },
      networks: { 'red/flat': { ips: ['10.90.0.3/24'] } },
    });
    expect(found(it)?.refused).toContain('red/none does not exist');
    expect(found(it)?.attachments.slice(2)).toMatchObject([{ nadKey: 'red/flat', index: 3 }]);
  });

  it('is refused a NAD that contradicts its network, and waits with the reason for what another network has yet', () => {
    const problem = (message: string, contradicts: boolean) => (it: TestCluster) => {
      it.facts.set('nadProblem', 'red/odd', { message, contradicts });
      return it;
    };
    const contradiction = 'CNI config does not match that of network odd in NAD blue/odd';
    const refused = found(selecting('odd', problem(contradiction, true)));
    expect([refused?.refused, refused?.waitingFor]).toEqual([`red/odd as net1: ${contradiction}`, undefined]);
    const shared = 'network odd has an id that belongs to network blue';
    const waits = found(selecting('odd', problem(shared, false)));
    expect([waits?.refused, waits?.waitingFor]).toEqual([undefined, shared]);
  });

  it('is refused two that would be one port', () => {
    const near = (it: TestCluster): TestCluster =>
      it.network('red_flat1', secondary('flat-1', { id: 26, subnets: ['10.92.0.0/24'] }));
    const refused = found(selecting('flat,flat,flat-1', near));
    expect(refused?.refused).toBe(
      'red/flat-1 as net3: its port name red.flat.1_red_a is that of red/flat/1 as net2 in pod red/a; rename one of the NetworkAttachmentDefinitions',
    );
    expect(refused?.attachments).toHaveLength(2);
  });

  it.each([
    ['waits', 'unknown-yet'],
    ['is refused', 'none'],
    ['selects nothing', undefined],
  ])('holds what it has entries of while it %s', (_, selects) => {
    const it = selecting('flat');
    it.facts.set('nad', 'red/unknown-yet', 'red_unknown');
    const networks = {
      default: { ips: ['10.128.0.3/23'] },
      'red/net': { ips: ['10.20.1.3/24'] },
      'red/flat': { ips: ['10.90.0.3/24'] },
      'red/wide': { ips: ['10.91.1.3/24'] },
    };
    it.pod('red/a', { node: 'node1', networks, ...(selects !== undefined && { selects }) });
    expect(found(it)?.held.map(({ nadKey, givenBy, subnets }) => [nadKey, givenBy, subnets.join()])).toEqual([
      ['default', 'node', '10.128.0.0/23'],
      ['red/net', 'node', '10.20.1.0/24'],
      ['red/flat', 'cluster', ''],
      ['red/wide', 'node', '10.91.1.0/24'],
    ]);
    expect(found(it)?.waitingFor).toEqual(selects === 'unknown-yet' ? expect.anything() : undefined);
    const inUse = ['red', 'red_flat', 'red_wide'].map((name) => it.facts.get('networkInUse', name));
    expect(inUse).toEqual([true, true, true]);
  });

  it('keeps the networks that it has addresses of while its annotation is edited', () => {
    const it = selecting('flat');
    it.pod('red/a', { node: 'node1', networks: { 'red/flat': { ips: ['10.90.0.3/24'] } }, selects: 'none' });
    it.render();
    expect(['red', 'red_flat', 'red_wide'].map((name) => it.facts.get('networkInUse', name))).toEqual([
      ...[true, true, undefined],
    ]);
  });
});

describe('a pod of another namespace', () => {
  const REFUSED =
    'network blue_store is not for namespace red: NetworkAttachmentDefinition blue/store gives no address to its pods; use one of namespace red';
  const refusedOf = (it: TestCluster) => {
    it.render();
    return it.sinks.attachments.get('attachments:red/a')?.refused;
  };
  const store = { id: 7, topology: 'layer3', subnets: ['10.70.0.0/16'], role: 'secondary', nad: 'store' } as const;
  const selecting = (it: TestCluster, selects: string) =>
    refusedOf(it.pod('red/a', { node: 'node1', networks: {}, selects }));

  it('is refused a secondary network, by the sentence that the cluster manager has', () => {
    const blue = cluster()
      .namespace('blue')
      .network('blue_store', { ...store, namespace: 'blue' });
    expect(selecting(blue, 'blue/store')).toBe(REFUSED);
    expect(selecting(cluster().network('red_store', { ...store, namespace: 'red' }), 'store')).toBeUndefined();
  });

  it('may have one that was written by hand in namespace default, and no other of that namespace', () => {
    const shared = cluster().network('shared', { ...store, namespace: 'default', handmade: true });
    expect(selecting(shared, 'default/store')).toBeUndefined();
    const rendered = cluster().network('default_store', { ...store, namespace: 'default' });
    expect(selecting(rendered, 'default/store')).toMatch('network default_store is not for namespace red');
  });
});

describe('a host-network pod', () => {
  const reportedOf = (input: object, multiNetwork: 'native' | 'delegated' = 'native') => {
    const it = cluster({ multiNetwork })
      .foreignNad('red/macvlan')
      .pod('red/a', { node: 'node1', hostNetwork: true, networks: {}, ...input });
    it.render();
    expect(it.sinks.attachments.get('attachments:red/a')).toBeUndefined();
    return it.engine.diagnostics.get('attachments:red/a');
  };

  it('gets an event about what it selects in vain', () => {
    const ignored = [{ nad: 'red/net', message: 'bandwidth of red/net has no effect' }];
    const message =
      'k8s.v1.cni.cncf.io/networks: red/flat, red/macvlan: has no effect on a host-network pod, which is attached to no network';
    const common = { object: 'Pod/red/a', severity: 'warning', cause: 'pod-refused', event: 'RequestIgnored' };
    expect(reportedOf({ selects: 'flat,flat,macvlan', ignored })).toEqual([
      { ...common, message },
      { ...common, message: 'bandwidth of red/net has no effect' },
    ]);
    expect(reportedOf({ unreadableSelection: 'name: is missing' })).toEqual([
      { ...common, message: 'name: is missing' },
    ]);
  });

  it('gets none about other plugins where those are Multus’, or where it selects nothing', () => {
    expect(reportedOf({ selects: 'macvlan' }, 'delegated')).toBeUndefined();
    expect(reportedOf({})).toBeUndefined();
  });
});
