import { describe, expect, it } from 'vitest';
import { ENDPOINT_SLICES, SERVICES } from '../resources.ts';
import type { KubeObject } from '../types.ts';
import { createEmbeddedCluster } from './cluster.ts';
import type { EmbeddedClusterOptions } from './types.ts';

const bench = (options: EmbeddedClusterOptions = {}) => {
  const client = createEmbeddedCluster(options).client();
  let count = 0;
  const create = (spec: Record<string, unknown> = {}): Promise<KubeObject> => {
    count += 1;
    const metadata = { namespace: 'default', name: `service-${count}` };
    return client.create(SERVICES, { metadata, spec: { ports: [{ port: 80 }], ...spec } });
  };
  return { client, create };
};

const addresses = ({ spec }: KubeObject) => {
  const { clusterIP, clusterIPs, ipFamilies, ipFamilyPolicy } = spec as Record<string, unknown>;
  return { clusterIP, clusterIPs, ipFamilies, ipFamilyPolicy };
};

const DUAL = { serviceCidrs: ['10.96.0.0/16', 'fd00:10:96::/112'] };

describe('on a cluster of both families', () => {
  it('a service has one address of the first family unless it wants both', async () => {
    const { create } = bench(DUAL);
    expect(addresses(await create())).toEqual({
      clusterIP: '10.96.0.2',
      clusterIPs: ['10.96.0.2'],
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
    });
    for (const ipFamilyPolicy of ['PreferDualStack', 'RequireDualStack']) {
      expect(addresses(await create({ ipFamilyPolicy }))).toMatchObject({
        ipFamilies: ['IPv4', 'IPv6'],
        ipFamilyPolicy,
      });
    }
  });

  it('the order of families can be chosen', async () => {
    const { create } = bench(DUAL);
    expect(addresses(await create({ ipFamilies: ['IPv6'] }))).toMatchObject({
      clusterIP: 'fd00:10:96::1',
      ipFamilies: ['IPv6'],
    });
    const both = await create({ ipFamilies: ['IPv6', 'IPv4'], ipFamilyPolicy: 'RequireDualStack' });
    expect(addresses(both)).toMatchObject({ clusterIPs: ['fd00:10:96::2', '10.96.0.2'] });
    const given = await create({ clusterIPs: ['10.96.9.9', 'fd00:10:96::9'] });
    expect(addresses(given)).toMatchObject({ ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' });
  });

  it('addresses outside of the ranges are refused', async () => {
    const { create } = bench(DUAL);
    for (const clusterIP of ['10.97.0.1', 'fd00::1', 'nonsense']) {
      await expect(create({ clusterIP })).rejects.toMatchObject({ status: 422 });
    }
  });
});

describe('on a cluster of one family', () => {
  it('both families can be preferred but not required', async () => {
    const { create } = bench();
    expect(addresses(await create({ ipFamilyPolicy: 'PreferDualStack' }))).toMatchObject({ clusterIPs: ['10.96.0.2'] });
    await expect(create({ ipFamilyPolicy: 'RequireDualStack' })).rejects.toMatchObject({ status: 422 });
    await expect(create({ ipFamilies: ['IPv6'] })).rejects.toMatchObject({ status: 422 });
  });

  it('a range that is used up is an error, and what is deleted is free again', async () => {
    const { create, client } = bench({ serviceCidrs: ['10.96.0.0/30'] });
    const only = await create();
    await expect(create()).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining('no address is free'),
    });
    await client.delete(SERVICES, { namespace: 'default', name: only.metadata.name });
    expect(addresses(await create())).toEqual(addresses(only));
  });

  it('ExternalName has no address', async () => {
    const { create } = bench();
    const service = await create({ type: 'ExternalName', externalName: 'example.org' });
    expect(addresses(service)).toEqual({});
  });

  it('a load balancer of local traffic gets a port for health checks', async () => {
    const { create } = bench();
    const service = await create({ type: 'LoadBalancer', externalTrafficPolicy: 'Local' });
    const { ports, healthCheckNodePort } = service['spec'] as {
      ports: { nodePort: number }[];
      healthCheckNodePort: number;
    };
    expect([ports[0]?.nodePort, healthCheckNodePort]).toEqual([30_000, 30_001]);
    const bare = await create({ type: 'LoadBalancer', allocateLoadBalancerNodePorts: false });
    expect(bare['spec']).not.toHaveProperty(['ports', '0', 'nodePort']);
  });
});

it('the API server itself is a service with endpoints', async () => {
  const { client } = bench({ ...DUAL, apiServerEndpoint: { addresses: ['192.0.2.1', '2001:db8::1'], port: 6443 } });
  const service = await client.get(SERVICES, { namespace: 'default', name: 'kubernetes' });
  expect(addresses(service)).toMatchObject({ clusterIP: '10.96.0.1' });
  const labelSelector = 'kubernetes.io/service-name=kubernetes';
  const { items } = await client.list(ENDPOINT_SLICES, { namespace: 'default', labelSelector });
  expect(items.map(({ addressType, endpoints }) => [addressType, endpoints])).toEqual([
    ['IPv4', [expect.objectContaining({ addresses: ['192.0.2.1'] })]],
    ['IPv6', [expect.objectContaining({ addresses: ['2001:db8::1'] })]],
  ]);
});
