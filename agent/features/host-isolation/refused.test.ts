/** A node whose nft cannot match processes by their cgroups isolates all the same. */
import { expect, it } from 'vitest';
import { createNftables } from '../../../datapath/nftables/backend.ts';
import { FakeNft } from '../../../datapath/nftables/fake-nft.ts';
import { parseListing } from '../../../datapath/nftables/parse-listing.ts';
import { type NftItem, nftItemKey } from '../../../datapath/nftables/types.ts';
import { LOCAL } from '../../model/facts.ts';
import { TestCluster } from '../../testing/cluster.ts';

const signal = new AbortController().signal;
const CGROUP = { path: 'kubelet.slice/kubelet.service', level: 2, id: '1' };

const setUp = () => {
  const cluster = new TestCluster('node1').node('node1', { id: 2, subnets: { default: ['10.1.1.0/24'] } });
  cluster.facts.set('kubeletCgroup', LOCAL, CGROUP);
  const nft = new FakeNft();
  const backend = createNftables({ runner: nft });
  const reconcile = async (): Promise<readonly string[]> => {
    cluster.render();
    const desired = new Map(cluster.sinks.nftables.all().map((item): [string, NftItem] => [nftItemKey(item), item]));
    return [...(await backend.reconcile({ desired, keys: 'all', prune: true }, signal)).failed.keys()].sort();
  };
  const rules = async (chain: string): Promise<readonly string[] | undefined> => {
    const { stdout } = await nft.run({ file: 'nft', args: ['list', 'table', 'inet', 'ovn-udn'] });
    return parseListing(stdout).chains.get(chain)?.rules;
  };
  return { cluster, nft, reconcile, rules };
};

it('drops everything of a new table while the kernel has no nft_socket, and lets the kubelet through once it has', async () => {
  const { nft, reconcile, rules } = setUp();
  nft.refused = /socket cgroupv2/;
  expect(await reconcile()).toEqual([
    'chain udn-host-network-pod-marks',
    'chain udn-isolation-kubelet',
    'chain udn-management-isolation-pods',
  ]);
  expect(await rules('udn-isolation')).toContain('ip daddr @udn-pod-default-ips-v4 drop');
  expect(await rules('udn-isolation-kubelet')).toEqual([]);
  expect(await rules('udn-management-isolation')).toContain('drop');
  expect(await rules('udn-management-isolation-pods')).toEqual([]);
  nft.refused = undefined;
  expect(await reconcile()).toEqual([]);
  expect(await rules('udn-isolation-kubelet')).toHaveLength(1);
  expect(await rules('udn-management-isolation-pods')).toHaveLength(6);
});

it('leaves the other chains as they are when the kubelet’s cgroup is gone at the moment of a write', async () => {
  const { cluster, nft, reconcile, rules } = setUp();
  expect(await reconcile()).toEqual([]);
  const before = await rules('udn-isolation');
  nft.refused = /kubelet\.service/;
  cluster.facts.set('kubeletCgroup', LOCAL, { ...CGROUP, id: '2' });
  expect(await reconcile()).toEqual(['chain udn-isolation-kubelet']);
  expect(await rules('udn-isolation')).toEqual(before);
  expect(await rules('udn-isolation-kubelet')).toEqual([
    'socket cgroupv2 level 2 "kubelet.slice/kubelet.service" accept comment "cgroup 1"',
  ]);
});
