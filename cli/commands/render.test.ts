import { describe, expect, it } from 'vitest';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { clusterFromSettings, formatText, hasErrors, render } from './render.ts';

const node = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name },
  status: { addresses: [{ type: 'InternalIP', address: '172.30.0.2' }] },
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
      'green_net_ovn_layer2_switch',
      'n1',
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

  it('gives the same text for the same objects in any order', () => {
    expect(JSON.stringify(renderFor('n1', objects.toReversed()))).toBe(JSON.stringify(renderFor('n1')));
    expect(formatText(renderFor('n1', objects.toReversed()))).toBe(formatText(renderFor('n1')));
  });

  it('renders the rest when one object is bad, and says which', () => {
    const bad = udn('blue', { topology: 'Layer3', layer3: { role: 'Primary', subnets: [{ cidr: '10.20.0.5/16' }] } });
    const output = renderFor('n1', [...objects, tenant('blue'), bad]);
    expect(hasErrors(output)).toBe(true);
    expect(output.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([
      expect.objectContaining({ object: 'UserDefinedNetwork/blue/net', message: expect.stringContaining('host bits') }),
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

  it('refuses a node that is not in the input', () => expect(() => renderFor('n9')).toThrow(/no Node "n9"/));
});

it('settings are those of the cluster', () => {
  expect(clusterFromSettings(['mtu=1300', 'clusterSubnets=10.0.0.0/16/24']).mtu).toBe(1300);
  expect(() => clusterFromSettings(['speed=9'])).toThrow(/--set speed=9: expected one of clusterSubnets/);
  expect(() => clusterFromSettings(['mtu=fast'])).toThrow(/mtu/);
});
