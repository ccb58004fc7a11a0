import { describe, expect, it } from 'vitest';
import { parseClusterConfig } from '../../api/cluster-config.ts';
import { parseCidr } from '../../net/cidr.ts';
import { nadFacts } from '../facts/nad-facts.ts';
import { namespaceFacts } from '../facts/namespace-facts.ts';
import { cudnFacts, type NetworkFacts, udnFacts } from '../facts/network-facts.ts';
import { cudn, layer2Udn, layer3Udn, nad, namespace, netConf, tenant, udn } from '../testing/objects.ts';
import { renderNetConf } from './net-conf.ts';
import { isRendered, renderNad } from './network-attachment-definition.ts';
import { inUse, type NetworkView, planDesired, planRelease, renderOrExplain } from './plan-network.ts';
import { transitSubnetsFor } from './transit-subnets.ts';

const cluster = parseClusterConfig();
const config = (facts: NetworkFacts, ns = 'ns') =>
  JSON.parse(renderNad(facts, ns, renderNetConf(facts, cluster)(ns)).spec.config);

describe('rendered NAD', () => {
  it('of a layer-3 network', () => {
    const facts = udnFacts({
      ...udn('green/net', {
        topology: 'Layer3',
        layer3: {
          role: 'Primary',
          mtu: 1300,
          subnets: [{ cidr: '203.203.0.0/16', hostSubnet: 24 }, { cidr: 'fd20::/48' }],
        },
      }),
      metadata: {
        name: 'net',
        namespace: 'green',
        uid: 'u-1',
        labels: { team: 'a' },
        annotations: { 'k8s.ovn.org/x': 'no', 'kubectl.kubernetes.io/last-applied-configuration': '{}', note: 'yes' },
      },
    });
    expect(renderNad(facts, 'green', renderNetConf(facts, cluster)('green'))).toEqual({
      apiVersion: 'k8s.cni.cncf.io/v1',
      kind: 'NetworkAttachmentDefinition',
      metadata: {
        name: 'net',
        namespace: 'green',
        labels: { team: 'a', 'k8s.ovn.org/user-defined-network': '' },
        annotations: { note: 'yes' },
        finalizers: ['k8s.ovn.org/user-defined-network-protection'],
        ownerReferences: [
          {
            apiVersion: 'k8s.ovn.org/v1',
            kind: 'UserDefinedNetwork',
            name: 'net',
            uid: 'u-1',
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      spec: {
        config:
          '{"cniVersion":"1.0.0","joinSubnet":"100.65.0.0/16,fd99::/64","mtu":1300,"name":"green_net","netAttachDefName":"green/net","role":"primary","subnets":"203.203.0.0/16/24,fd20::/48","topology":"layer3","type":"ovn-k8s-cni-overlay"}',
      },
    });
  });

  it('of a primary layer-2 network has the transit subnets of its families', () => {
    expect(config(udnFacts(layer2Udn('ns/n', ['10.20.0.0/16'])))).toMatchObject({
      topology: 'layer2',
      joinSubnet: '100.65.0.0/16,fd99::/64',
      transitSubnet: '100.88.0.0/16',
    });
    expect(config(udnFacts(layer2Udn('ns/n', ['10.20.0.0/16', 'fd20::/64'])))).toMatchObject({
      transitSubnet: '100.88.0.0/16,fd97::/64',
    });
  });

  it('of a secondary network has neither join nor transit subnets', () => {
    expect(config(udnFacts(layer2Udn('ns/n', ['10.20.0.0/16'], { role: 'Secondary' })))).toEqual({
      cniVersion: '1.0.0',
      type: 'ovn-k8s-cni-overlay',
      name: 'ns_n',
      netAttachDefName: 'ns/n',
      topology: 'layer2',
      role: 'secondary',
      subnets: '10.20.0.0/16',
    });
  });

  it('of a preconfigured layer-2 network', () => {
    const more = {
      infrastructureSubnets: ['10.20.0.0/29'],
      reservedSubnets: ['10.20.9.0/24'],
      defaultGatewayIPs: ['10.20.0.5'],
    };
    expect(config(udnFacts(layer2Udn('ns/n', ['10.20.0.0/16'], more)))).toMatchObject({
      infrastructureSubnets: '10.20.0.0/29',
      reservedSubnets: '10.20.9.0/24',
      defaultGatewayIPs: '10.20.0.5',
    });
  });

  it('of a network whose addresses may outlive pods', () => {
    const conf = config(udnFacts(layer2Udn('ns/n', ['10.20.0.0/16'], { ipam: { lifecycle: 'Persistent' } })));
    expect(conf).toMatchObject({ allowPersistentIPs: true });
    expect(config(udnFacts(layer2Udn('ns/n', ['10.20.0.0/16'])))).not.toHaveProperty('allowPersistentIPs');
  });

  it('of a cluster-wide network differs between namespaces in its own name only', () => {
    const facts = cudnFacts(cudn('blue', {}, layer3Udn('x/y', ['10.30.0.0/16'])['spec']));
    expect(config(facts, 'a')).toEqual({ ...config(facts, 'b'), netAttachDefName: 'a/blue' });
    expect(config(facts, 'a')).toMatchObject({ name: 'cluster_udn_blue', netAttachDefName: 'a/blue' });
  });

  it.each([
    [
      cudn(
        'n',
        {},
        {
          ...(layer3Udn('a/b', ['10.1.0.0/16'])['spec'] as object),
          transport: 'NoOverlay',
          noOverlay: { outboundSNAT: 'Enabled', routing: 'Managed' },
        },
      ),
      'transport NoOverlay is not supported yet',
    ],
    [
      layer3Udn('a/b', ['10.128.0.0/16']),
      'user defined subnet "10.128.0.0/16" overlaps cluster subnet "10.128.0.0/14"',
    ],
    [layer3Udn('a/b', ['10.1.0.5/33']), 'spec.layer3.subnets[0].cidr: CIDR is invalid: "10.1.0.5/33"'],
    [
      udn('a/b', { topology: 'Layer3', layer3: { role: 'Primary', subnets: [{ cidr: 'fd00::/48', hostSubnet: 80 }] } }),
      'spec.layer3.subnets[0].hostSubnet: HostSubnet must be 64 for ipv6 CIDR',
    ],
  ])('is refused %#', (object, message) => {
    const facts = (object.kind === 'UserDefinedNetwork' ? udnFacts : cudnFacts)(object);
    expect(renderOrExplain(facts, cluster)).toEqual(
      expect.stringContaining(`failed to generate NetworkAttachmentDefinition: ${message}`),
    );
  });
});

describe('transit subnets', () => {
  const transit = [parseCidr('100.88.0.0/16'), parseCidr('fd97::/64')];

  it('move to the next block of their size', () => {
    expect(transitSubnetsFor(transit, [parseCidr('100.88.0.0/15')], [])).toEqual(['100.90.0.0/16']);
    expect(transitSubnetsFor(transit, [parseCidr('100.88.0.0/16')], [parseCidr('100.89.0.0/16')])).toEqual([
      '100.90.0.0/16',
    ]);
    expect(transitSubnetsFor(transit, [parseCidr('fd97::/64')], [])).toEqual(['fd97:0:0:1::/64']);
  });

  it('give up after ten blocks', () => {
    expect(() => transitSubnetsFor(transit, [parseCidr('100.0.0.0/8')], [])).toThrow('no transit subnet is free');
  });
});

describe('plan', () => {
  const facts = udnFacts({
    ...layer2Udn('ns/net', ['10.20.0.0/16']),
    metadata: { name: 'net', namespace: 'ns', uid: 'u' },
  });
  const own = (metadata: Record<string, unknown> = {}) => {
    const { metadata: rendered, spec } = renderNad(facts, 'ns', renderNetConf(facts, cluster)('ns'));
    return nadFacts({ metadata: { ...rendered, uid: 'nad', ...metadata }, spec });
  };
  const view = (
    more: Partial<NetworkView> & { nads?: ReturnType<typeof nadFacts>[]; ns?: unknown } = {},
  ): NetworkView => ({
    rendered: (one) => renderOrExplain(one, cluster),
    namespace: () => namespaceFacts(more.ns ?? tenant('ns')),
    nad: (key) => more.nads?.find((one) => one.key === key),
    nadsIn: () => more.nads ?? [],
    pendingPrimaries: () => [],
    podsUsing: () => [],
    ...more,
  });

  it('makes a NAD, keeps it, and puts an edited one back', () => {
    expect(planDesired(facts, 'ns', view())).toMatchObject({ kind: 'apply', isNew: true, isPrimary: true });
    expect(planDesired(facts, 'ns', view({ nads: [own()] }))).toMatchObject({ kind: 'keep', hasExtras: false });
    const edited = nadFacts({ metadata: own().metadata, spec: { config: '{}' } });
    expect(planDesired(facts, 'ns', view({ nads: [edited] }))).toMatchObject({ kind: 'apply', isNew: false });
    expect(isRendered(edited, renderNad(facts, 'ns', renderNetConf(facts, cluster)('ns')))).toBe(false);
  });

  it('keeps a NAD that means the same, as other programs write it', () => {
    const written = (change: (config: Record<string, unknown>) => unknown) =>
      nadFacts({
        metadata: own().metadata,
        spec: { config: JSON.stringify(change(JSON.parse(own().config ?? '')), null, 2) },
      });
    const reversed = (config: Record<string, unknown>) => Object.fromEntries(Object.entries(config).reverse());
    const joinSubnet = 'fd99::/64,100.65.0.0/16';
    const same = [
      reversed,
      (config: Record<string, unknown>) => ({ ...config, cniVersion: '1.1.0', joinSubnet, mtu: 0, transport: '' }),
      // Of before the transit subnet was configured.
      ({ transitSubnet: _, ...config }: Record<string, unknown>) => config,
    ];
    for (const change of same) {
      expect(planDesired(facts, 'ns', view({ nads: [written(change)] }))).toMatchObject({ kind: 'keep' });
    }
    for (const other of [
      { subnets: '10.99.0.0/16' },
      { joinSubnet: '100.66.0.0/16' },
      { mtu: 1300 },
      { role: 'secondary' },
    ]) {
      const nads = [written((config) => ({ ...config, ...other }))];
      expect(planDesired(facts, 'ns', view({ nads }))).toMatchObject({ kind: 'apply', isNew: false });
    }
  });

  it.each<[string, NetworkView, string]>([
    [
      'a NAD of somebody else has the name',
      view({ nads: [nadFacts(nad('ns/net', '{}'))] }),
      'foreign NetworkAttachmentDefinition with the desired name already exist [ns/net]',
    ],
    [
      'there is a primary network already',
      view({ nads: [nadFacts(nad('ns/other', netConf('ns/other', 'ns_other')))] }),
      'primary network already exist in namespace "ns": "other"',
    ],
    [
      'there is a primary network that is wrong in another way',
      view({ nads: [nadFacts(nad('ns/other', netConf('ns/other', 'other', { netAttachDefName: '/other' })))] }),
      'primary network already exist in namespace "ns": "other"',
    ],
    [
      'a primary network is being written',
      view({ pendingPrimaries: () => ['ns/net', 'ns/other'] }),
      'primary network already exist in namespace "ns": "other"',
    ],
    [
      'another NAD can not be read',
      view({ nads: [nadFacts(nad('ns/broken', ''))] }),
      'failed to validate no primary network exist: unmarshal failed [ns/broken]: unexpected end of JSON input',
    ],
    [
      'the namespace has no label',
      view({ ns: namespace('ns') }),
      'invalid primary network state for namespace "ns": a valid primary user defined network or network attachment definition custom resource, and required namespace label "k8s.ovn.org/primary-user-defined-network" must both be present',
    ],
    [
      'its NAD is being deleted',
      view({ nads: [own({ deletionTimestamp: '2026-01-01T00:00:00Z' })], podsUsing: () => ['ns/p'] }),
      'NetworkAttachmentDefinition [ns/net] is being deleted and will be created again: network in use by the following pods: [ns/p]',
    ],
  ])('says when %s', (_what, one, message) => {
    expect(planDesired(facts, 'ns', one)).toEqual({ kind: 'error', message });
  });

  it('leaves a namespace alone that is about to go', () => {
    const ns = { ...tenant('ns'), metadata: { name: 'ns', deletionTimestamp: '2026-01-01T00:00:00Z' } };
    expect(planDesired(facts, 'ns', view({ ns }))).toEqual({ kind: 'skip' });
    expect(planDesired(facts, 'ns', view({ namespace: () => undefined }))).toEqual({ kind: 'skip' });
  });

  it('keeps its place when another primary NAD appears later', () => {
    const other = nadFacts(nad('ns/other', netConf('ns/other', 'ns_other')));
    expect(planDesired(facts, 'ns', view({ nads: [own(), other] })).kind).toBe('keep');
  });

  it('releases a NAD that no pod uses', () => {
    expect(planRelease(facts, 'ns', view()).kind).toBe('gone');
    expect(planRelease(facts, 'ns', view({ nads: [nadFacts(nad('ns/net', '{}'))] })).kind).toBe('gone');
    expect(planRelease(facts, 'ns', view({ nads: [own()] })).kind).toBe('delete');
    const gone = { deletionTimestamp: 'x' };
    expect(planRelease(facts, 'ns', view({ nads: [own(gone)] }))).toEqual({ kind: 'deleting' });
    const collected = own({ ...gone, finalizers: ['foregroundDeletion'] });
    expect(planRelease(facts, 'ns', view({ nads: [collected] }))).toEqual({ kind: 'deleting' });
    const held = own({ ...gone, finalizers: ['example.com/a', 'example.com/b'] });
    expect(planRelease(facts, 'ns', view({ nads: [held] }))).toEqual({
      kind: 'deleting',
      message:
        'failed to delete NetworkAttachmentDefinition [ns/net]: waiting for foreign finalizers: [example.com/a example.com/b]',
    });
    expect(planRelease(facts, 'ns', view({ nads: [own()], podsUsing: () => ['ns/a', 'ns/b'] }))).toEqual({
      kind: 'blocked',
      message:
        'failed to delete NetworkAttachmentDefinition [ns/net]: network in use by the following pods: [ns/a ns/b]',
    });
  });

  it('names some of many pods', () => {
    const pods = Array.from({ length: 25 }, (_, n) => `ns/p${n}`);
    expect(inUse(pods)).toContain('ns/p19 and 5 more]');
  });
});
