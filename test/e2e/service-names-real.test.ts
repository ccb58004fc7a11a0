/**
 * Services by their names on a real API server with real kubelets: tenants ask at the ClusterIPs of kube-dns, which is in
 * the default network, by the VRFs of their networks, and are answered at the ClusterIPs of the answer. Needs root and
 * `make build`.
 */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { askFrom, type Target } from '../oracles/reachability/service-clients.ts';
import { useCluster } from './support/cluster/cluster.ts';
import { leavesNothingInGuest } from './support/kubelet/guest-traces.ts';
import { fromHost } from './support/services/entry-points.ts';
import { serviceNames } from './support/services/names.ts';
import { SERVED } from './support/services/services.ts';

const NEEDS = ['vrf', 'kernel-datapath'] as const;
const NODES = ['node-1', 'node-2'] as const;

leavesNothingInGuest(NEEDS);
const cluster = useCluster({
  ...{ name: 'test-service-names-real', api: 'kube', kubelet: 'real', dns: 'coredns', ipFamily: 'dual' },
  // An emulated guest takes three minutes when it has two processors for itself.
  ...{ needs: [...NEEDS], timeoutSeconds: 600 },
});

serviceNames(cluster, { tenantsOn: NODES });

it.each(['red', 'green'])('a pod of %s finds the Kubernetes API by its name, and is answered', async (name) => {
  const argv = ['curl', '-sSk', '--max-time', '30', 'https://kubernetes.default.svc/version'];
  await eventually(async () => {
    const { stdout } = await cluster().exec(`${name}/${name}-web-node-1`, argv);
    expect(JSON.parse(stdout)).toMatchObject({ major: '1', platform: expect.stringMatching(/^linux\//) });
  }, 60_000);
});

const podSchema = z.object({ status: z.object({ podIPs: z.array(z.object({ ip: z.string() })) }) });

/** Where its kubelet probes it: on the default network. */
const probedAt = async (key: string): Promise<Target[]> => {
  const { status } = podSchema.parse(await (await cluster().objects()).get('Pod', key));
  return status.podIPs.map(({ ip }) => ({ ip, port: SERVED.TCP, protocol: 'TCP' }));
};

describe.each(NODES)('on %s', (node) => {
  it('a tenant’s pod is probed by the kubelet, and reached by no other process of the node', async () => {
    const tenants = (await Promise.all(['red', 'green'].map((name) => probedAt(`${name}/${name}-web-${node}`)))).flat();
    const plain = await probedAt(`plain/plain-web-${node}`);
    const attempts = await askFrom(fromHost(cluster(), node), [...plain, ...tenants]);
    expect(attempts.map(({ outcome, text }) => (outcome === 'answered' ? text : 'nobody'))).toEqual([
      ...plain.map(() => `plain-web-${node}`),
      ...tenants.map(() => 'nobody'),
    ]);
  });
});
