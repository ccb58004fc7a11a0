import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseManifests } from '../../../sandbox/objects/manifests.ts';
import { intendedNetworks, unintended } from './intended.ts';
import { attachment, plainA, pod, redA } from './testing.ts';

const EXAMPLES = join(import.meta.dirname, '../../../examples/demo');
const examples = globSync('*.yaml', { cwd: EXAMPLES }).flatMap((name) =>
  parseManifests(readFileSync(join(EXAMPLES, name), 'utf8'), name),
);

describe('intendedNetworks', () => {
  it('reads the example: own networks, a shared one, and the default network', () => {
    const networks = intendedNetworks(examples);
    expect(
      [...Map.groupBy(networks, ([, network]) => network)].map(([network, pods]) => [network, pods.length]),
    ).toEqual([
      ['red_red', 4],
      ['blue_blue', 3],
      ['green_green', 4],
      ['gold_gold', 3],
      ['cluster_udn_shop', 3],
      ['default', 3],
    ]);
    expect(networks.get('shop/shop-a')).toBe('cluster_udn_shop');
    expect(networks.get('shop-data/shop-b')).toBe('cluster_udn_shop');
  });

  it('a secondary network is nobody’s primary one, and an unlabelled namespace is not selected', () => {
    const manifests = parseManifests(
      `
{apiVersion: v1, kind: Namespace, metadata: {name: a, labels: {k8s.ovn.org/primary-user-defined-network: "", team: x}}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: b, labels: {team: x}}}
---
apiVersion: k8s.ovn.org/v1
kind: UserDefinedNetwork
metadata: {name: extra, namespace: a}
spec: {topology: Layer2, layer2: {role: Secondary, subnets: [10.9.0.0/16]}}
---
apiVersion: k8s.ovn.org/v1
kind: ClusterUserDefinedNetwork
metadata: {name: shared}
spec:
  namespaceSelector: {matchLabels: {team: x}}
  network: {topology: Layer2, layer2: {role: Primary, subnets: [10.8.0.0/16]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: one, namespace: a}, spec: {containers: []}}
---
{apiVersion: v1, kind: Pod, metadata: {name: two, namespace: b}, spec: {containers: []}}
---
{apiVersion: v1, kind: Pod, metadata: {name: three}, spec: {containers: []}}
`,
      'test',
    );
    expect([...intendedNetworks(manifests)]).toEqual([
      ['a/one', 'cluster_udn_shared'],
      ['b/two', 'default'],
      ['default/three', 'default'],
    ]);
  });
});

describe('unintended', () => {
  const expected = new Map([
    [redA.key, 'red_red'],
    [plainA.key, 'default'],
  ]);

  it('says nothing of pods that are where they should be', () => {
    expect(unintended([redA, plainA], expected, [4])).toEqual([]);
  });

  it('finds what a measurement alone would take for right', () => {
    const inBlue = { ...redA, attachments: [attachment('blue_blue', ['10.100.0.3'], 'primary'), redA.attachments[1]!] };
    const open = { ...redA, attachments: [redA.attachments[0]!] };
    const onDefault = pod(redA.key, 'node-1', attachment('default', ['10.128.0.9'], 'primary'));
    expect(unintended([plainA], expected, [4])).toEqual(['red/red-a does not run, or has no addresses']);
    expect(unintended([inBlue, plainA], expected, [4])).toEqual([
      'red/red-a has the primary network blue_blue and not red_red',
    ]);
    expect(unintended([open, plainA], expected, [4])).toEqual(['red/red-a has locked interfaces on: none']);
    expect(unintended([onDefault, plainA], expected, [4])).toEqual([
      'red/red-a has the primary network default and not red_red',
      'red/red-a has locked interfaces on: none',
    ]);
  });

  it('misses no family', () => {
    expect(unintended([redA, plainA], expected, [4, 6])).toEqual([
      'red/red-a has no IPv6 address on red_red',
      'red/red-a has no IPv6 address on default',
      'plain/plain-a has no IPv6 address on default',
    ]);
  });
});
