/**
 * What of our nftables table keeps networks apart, by name: chains that drop, chains that give the marks by which others drop or choose
 * a network, and the sets that either looks things up in. The rest translates addresses of Services and of what leaves.
 */
import { NFT_CHAINS, NFT_SETS } from '../../agent/model/registry/nftables.ts';

const CHAINS = [
  'forwarding',
  'managementIn',
  'tunnelsIn',
  'tunnelsOut',
  'tunnelsInClear',
  'processMarks',
  'networkMarks',
  'pathMtu',
  'hostPodServices',
  'hostPodMarks',
  'tenantServicesIn',
  'tenantServicesOut',
  'tenantServiceMark',
  'isolation',
  'isolationKubelet',
  'defaultPort',
  'managementIsolation',
  'managementIsolationPods',
  'hostPortLoopback',
] as const satisfies readonly (keyof typeof NFT_CHAINS)[];

const SETS = [
  'remoteNodes',
  'defaultPods',
  'nodeIps',
  'managementSources',
  'managementIps',
  'isolatedPods',
  'openPorts',
  'openIcmp',
  'tenantClusterIps',
  'markHostPods',
  'hostPods',
  'markNodePorts',
  'markExternalIps',
] as const satisfies readonly (keyof typeof NFT_SETS)[];

const CHAIN_NAMES = new Set<string>(CHAINS.map((chain) => NFT_CHAINS[chain].name));
const SET_NAMES = new Set<string>(SETS.map((set) => NFT_SETS[set].name));

/** @param key of an item of nftables: `element udn-node-ips-v4 10.0.0.1` */
export const isGuardingName = (key: string): boolean => {
  const [kind, name = ''] = key.split(' ');
  if (kind === 'chain') return CHAIN_NAMES.has(name) || MARK_CHAIN.test(name);
  return SET_NAMES.has(name) || SET_NAMES.has(name.replace(/-v[46]$/, ''));
};

/** `markChainName` */
const MARK_CHAIN = /^udn-mark-0x/;
