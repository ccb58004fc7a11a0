import { describe, expect, it } from 'vitest';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { parseManifests } from '../input/manifests.ts';
import { formatText, hasErrors, render } from './render.ts';
import {
  allowedServicesFromSettings,
  clusterFromSettings,
  kubeletCgroupFromSettings,
  networkRenderingFromSettings,
} from './render-settings.ts';

const node = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name },
  status: { addresses: [{ type: 'InternalIP', address: `172.30.0.${name === 'n2' ? 3 : 2}` }] },
});
const tenant = (name: string) => ({
  kind: 'Namespace',
  metadata: { name, labels: { 'k8s.ovn.org/primary-user-defined-network': '' } },
});
const udn = (namespace: string, spec: object) => ({
  apiVersion: 'k8s.ovn.org/v1',
  kind: 'UserDefinedNetwork',
  metadata: { name: 'net', namespace },
  spec,
});
const layer3 = { topology: 'Layer3', layer3: { role: 'Primary', subnets: [{ cidr: '10.20.0.0/16' }] } };
const layer2 = { topology: 'Layer2', layer2: { role: 'Primary', subnets: ['10.30.0.0/16', 'fd00:30::/64'] } };
const pod = (key: string, nodeName: string) => {
  const [namespace, name] = key.split('/');
  return {
    kind: 'Pod',
    metadata: { namespace, name, uid: `uid-${name}` },
    spec: { nodeName, containers: [{ name: 'c' }] },
  };
};
const objects = [
  node('n1'),
  node('n2'),
  tenant('red'),
  tenant('green'),
  udn('red', layer3),
  udn('green', layer2),
  pod('red/a', 'n1'),
  pod('red/b', 'n2'),
  pod('green/c', 'n1'),
  pod('green/d', 'n2'),
];
const renderFor = (name: string, input: readonly unknown[] = objects) =>
  render({ objects: input, node: name, cluster: parseClusterConfig() });

const names = (table: string, output: ReturnType<typeof renderFor>) =>
  (output.northbound[table] ?? []).map((row) => row['name']);

describe('render', () => {
  it('shows what each node has of each network', () => {
    const n1 = renderFor('n1');
    expect(names('Logical_Switch', n1)).toEqual([
      'ext_green_net_n1',
      'ext_n1',
      'ext_red_net_n1',
      'green_net_ovn_layer2_switch',
      'join',
      'n1',
      'red_net_join',
      'red_net_n1',
      'red_net_transit_switch',
      'transit_switch',
    ]);
    expect(names('Logical_Switch_Port', n1)).toEqual(
      expect.arrayContaining(['green.net_green_c', 'green.net_green_d', 'red.net_red_a', 'red_a', 'green_c']),
    );
    expect(names('Logical_Switch_Port', n1)).not.toContain('red.net_red_b');
    expect(n1.southbound['Chassis']).toEqual([
      expect.objectContaining({ name: 'n2', other_config: { 'is-remote': 'true' } }),
    ]);
    expect(hasErrors(n1)).toBe(false);
  });

  it('shows what each network adds to the bridge, the host and nftables', () => {
    const n1 = renderFor('n1');
    expect(n1.openflow['br-ex']).toContainEqual(
      expect.stringContaining('table=0, priority=720, in_port=patch-br-ex_red_net_n1-to-br-int,reg3=0, actions='),
    );
    expect(n1.links.map(({ name }) => name)).toEqual([
      'mp1-udn-vrf',
      'mp2-udn-vrf',
      'ovn-k8s-mp0',
      'ovn-k8s-mp1',
      'ovn-k8s-mp2',
    ]);
    expect(n1.routes).toContainEqual({
      table: 100_001,
      dst: 'default4',
      via: '172.30.0.1',
      dev: 'br-ex',
      mtu: 1400,
      type: 'unicast',
      protocol: 85,
    });
    expect(n1.rules).toContainEqual({ family: 4, priority: 2000, fwmark: '0x1001', table: 100_001 });
    expect(n1.neighbours).toContainEqual({ link: 'br-ex', address: '169.254.0.11', mac: '0a:58:a9:fe:00:0b' });
    expect(n1.sysctls['net.ipv4.conf.ovn-k8s-mp1.rp_filter']).toBe('2');
    expect(n1.nftables).toContain('\tchain udn-mark-0x1001 {\n');
  });

  it('takes the gateway mode of the option, and assumes an uplink by the name of the bridge', () => {
    const withBridge = (bridge: string) => ({
      ...node('n1'),
      metadata: {
        name: 'n1',
        annotations: {
          'k8s.ovn.org/l3-gateway-config': JSON.stringify({
            default: {
              mode: 'shared',
              'bridge-id': bridge,
              'mac-address': '02:00:00:00:00:07',
              'ip-addresses': ['172.30.0.2/24'],
            },
          }),
        },
      },
    });
    const uplinkOf = (bridge: string): string | undefined => {
      const { openflow, diagnostics } = renderFor('n1', [withBridge(bridge)]);
      const [, uplink] = /in_port=LOCAL, actions=.*output:(\S+)$/m.exec(openflow[bridge]?.join('\n') ?? '') ?? [];
      const matching = diagnostics.filter(
        ({ severity, message }) => severity === 'info' && message.endsWith(`assuming ${uplink}`),
      );
      expect(matching).toHaveLength(1);
      return uplink;
    };
    expect(['br-ex', 'breth0', 'brens3', 'bridge0', 'br1'].map(uplinkOf)).toEqual([
      'eth0',
      'eth0',
      'ens3',
      'eth0',
      'eth0',
    ]);
    const local = render({ objects, node: 'n1', cluster: parseClusterConfig(), gatewayMode: 'local' });
    expect(local.nftables).toContain('chain ovn-kube-local-gw-masq');
    expect(renderFor('n1').nftables).not.toContain('chain ovn-kube-local-gw-masq');
  });

  it('has on demand only the networks of pods of the node', () => {
    const onDemand = (input: readonly unknown[]): string =>
      JSON.stringify(
        render({ objects: input, node: 'n1', cluster: parseClusterConfig(), networkRendering: 'on-demand' }).northbound,
      );
    expect(onDemand(objects)).toBe(JSON.stringify(renderFor('n1').northbound));
    const elsewhere = onDemand(objects.filter((object) => !('spec' in object && 'nodeName' in object.spec)));
    expect(elsewhere).not.toMatch(/red_net|green_net/);
  });

  it('gives the same text for the same objects in any order', () => {
    expect(JSON.stringify(renderFor('n1', objects.toReversed()))).toBe(JSON.stringify(renderFor('n1')));
    expect(formatText(renderFor('n1', objects.toReversed()))).toBe(formatText(renderFor('n1')));
  });

  it('renders the rest when one object is bad, and says which', () => {
    const bad = udn('blue', { topology: 'Layer3', layer3: { role: 'Primary', subnets: [{ cidr: '10.20.0.5/33' }] } });
    const output = renderFor('n1', [...objects, tenant('blue'), bad]);
    expect(hasErrors(output)).toBe(true);
    expect(output.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([
      expect.objectContaining({
        object: 'UserDefinedNetwork/blue/net',
        message: expect.stringContaining('prefix length'),
      }),
    ]);
    expect(output.northbound).toEqual(renderFor('n1').northbound);
  });

  it('says what is no object, and renders the rest', () => {
    const output = renderFor('n1', [...objects, { metadata: { name: 'x' } }, 7]);
    expect(hasErrors(output)).toBe(true);
    expect(output.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([
      expect.objectContaining({
        object: `object ${objects.length + 1} of the input`,
        message: expect.stringContaining('kind'),
      }),
      expect.objectContaining({ object: `object ${objects.length + 2} of the input` }),
    ]);
    expect(output.northbound).toEqual(renderFor('n1').northbound);
  });

  it('gives addresses to the oldest pods first, then by namespace and name', () => {
    const input = [
      node('n1'),
      { ...pod('a-b/x', 'n1'), metadata: { namespace: 'a-b', name: 'x', creationTimestamp: '2026-01-02T00:00:00Z' } },
      { ...pod('a/x', 'n1'), metadata: { namespace: 'a', name: 'x', creationTimestamp: '2026-01-02T00:00:00Z' } },
      { ...pod('z/old', 'n1'), metadata: { namespace: 'z', name: 'old', creationTimestamp: '2026-01-01T00:00:00Z' } },
      // The same name, and younger: it is no pod.
      { kind: 'Service', metadata: { namespace: 'z', name: 'old', creationTimestamp: '2026-01-09T00:00:00Z' } },
    ];
    const addresses = (renderFor('n1', input).northbound['Logical_Switch_Port'] ?? []).flatMap((row) =>
      ['z_old', 'a_x', 'a-b_x'].includes(String(row['name'])) ? [`${row['name']} ${row['addresses']}`] : [],
    );
    expect(addresses.sort()).toEqual([
      'a-b_x 0a:58:0a:80:00:05 10.128.0.5',
      'a_x 0a:58:0a:80:00:04 10.128.0.4',
      'z_old 0a:58:0a:80:00:03 10.128.0.3',
    ]);
  });

  it('takes the end of tunnels as the agent does, and reports a node without one', () => {
    const bare = (name: string, annotations: Record<string, string> = {}, addresses: string[] = []) => ({
      kind: 'Node',
      metadata: { name, annotations },
      status: { addresses: addresses.map((address) => ({ type: 'InternalIP', address })) },
    });
    const encapOf = ({ openvswitch }: ReturnType<typeof render>) =>
      openvswitch['Open_vSwitch']?.map(({ external_ids: ids }) => Object(ids)['ovn-encap-ip'])[0];
    const dual = renderFor('n1', [bare('n1', {}, ['fd00::1', '172.30.0.2'])]);
    expect(encapOf(dual)).toBe('172.30.0.2');
    const primary = renderFor('n1', [bare('n1', { 'k8s.ovn.org/node-primary-ifaddr': '{"ipv4":"172.30.0.3/24"}' })]);
    expect([encapOf(primary), hasErrors(primary)]).toEqual(['172.30.0.3', false]);
    const gateway = { mode: 'shared', 'mac-address': '0a:58:00:00:00:01', 'ip-addresses': ['172.30.0.4/24'] };
    const annotated = bare('n1', { 'k8s.ovn.org/l3-gateway-config': JSON.stringify({ default: gateway }) });
    expect(encapOf(renderFor('n1', [annotated]))).toBe('172.30.0.4');
    const none = renderFor('n1', [bare('n1'), bare('n2')]);
    expect(encapOf(none)).toBeUndefined();
    expect(hasErrors(none)).toBe(false);
    expect(none.diagnostics.filter(({ message }) => message.includes('InternalIP'))).toEqual([
      expect.objectContaining({ object: 'Node/n1', severity: 'warning' }),
      expect.objectContaining({ object: 'Node/n2', severity: 'warning' }),
    ]);
  });

  it('says once what several programs find wrong', () => {
    const broken = { ...pod('red/x', 'n1'), metadata: { namespace: 'red', name: 'x', annotations: {} } };
    broken.metadata.annotations = { 'k8s.ovn.org/pod-networks': '[]' };
    const problems = renderFor('n1', [...objects, broken]).diagnostics.filter(
      ({ object, severity }) => object === 'Pod/red/x' && severity !== 'info',
    );
    expect(problems).toEqual([
      {
        object: 'Pod/red/x',
        severity: 'error',
        message: 'annotation k8s.ovn.org/pod-networks of Pod red/x: must be a map, is an array',
        cause: 'object-unreadable',
      },
    ]);
  });

  it('has what was wrong with the input so far', () => {
    const diagnostics = [{ object: 'x.yaml document 2', severity: 'error' as const, message: 'not YAML' }];
    const output = render({ objects, diagnostics, node: 'n1', cluster: parseClusterConfig() });
    expect(output.diagnostics).toContainEqual(diagnostics[0]);
    expect(hasErrors(output)).toBe(true);
  });

  it('refuses a node that is not in the input', () => expect(() => renderFor('n9')).toThrow(/no Node "n9"/));

  it('says what could not be read before it says that there is no Node', () => {
    const { objects: read, diagnostics } = parseManifests('kind: Node\nmetadata: {name: n1', 'node.yaml');
    expect(() => render({ objects: read, diagnostics, node: 'n1', cluster: parseClusterConfig() })).toThrow(
      /^node\.yaml document 1: not YAML: .+; no Node "n1" in the rest of the input$/,
    );
  });
});

it('settings are those of the cluster', () => {
  expect(clusterFromSettings(['mtu=1300', 'clusterSubnets=10.0.0.0/16/24']).mtu).toBe(1300);
  expect(() => clusterFromSettings(['speed=9'])).toThrow(/--set speed=9: expected one of clusterSubnets/);
  expect(() => clusterFromSettings(['mtu=fast'])).toThrow(/mtu/);
  expect(clusterFromSettings(['kubeletCgroup=kubelet.slice/kubelet.service'])).toEqual(parseClusterConfig());
  expect(kubeletCgroupFromSettings(['mtu=1300', 'kubeletCgroup=a/b=c'])).toBe('a/b=c');
  expect(kubeletCgroupFromSettings(['mtu=1300'])).toBeUndefined();
  expect(networkRenderingFromSettings(['networkRendering=always', 'networkRendering=on-demand'])).toBe('on-demand');
  expect(networkRenderingFromSettings(['mtu=1300'])).toBeUndefined();
  expect(allowedServicesFromSettings(['allowedDefaultServices=a/b', 'allowedDefaultServices=none'])).toEqual([]);
  expect(allowedServicesFromSettings(['mtu=1300'])).toBeUndefined();
  expect(() => clusterFromSettings(['networkRendering=never'])).toThrow(/expected always or on-demand/);
  expect(() => clusterFromSettings(['kubeletCgroup=/kubelet.slice'])).toThrow(/a path below the root/);
  expect(() => clusterFromSettings(['kubeletCgroup=a/../b'])).toThrow(/a path below the root/);
  expect(() => clusterFromSettings(['mtu'])).toThrow(/--set mtu: expected one of/);
});

it.each([
  'speed=9',
  'mtu=fast',
  'networkRendering=never',
  'kubeletCgroup=/kubelet.slice',
  'allowedDefaultServices=dns',
])('--set %s is a mistake of the command line, which the message names', (text) =>
  expect(() => clusterFromSettings([text])).toThrow(
    expect.objectContaining({ exitStatus: 2, message: expect.stringMatching(/^--set/) }),
  ),
);
