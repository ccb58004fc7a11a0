/** What the Debian tree of the sandbox's nodes is made of. Every change here makes a new tree. */
import { createHash } from 'node:crypto';

export const SUITE = 'trixie';

/** OVS ≥ 3.5, OVN ≥ 25.03, what a node's administrator types, and what tests compare with. */
export const PACKAGES: readonly string[] = [
  'ca-certificates',
  'conntrack',
  'curl',
  'ethtool',
  'iproute2',
  'iputils-ping',
  'jq',
  'kubectl',
  'ncat',
  'nftables',
  'openvswitch-ipsec',
  'openvswitch-switch',
  'ovn-central',
  'ovn-host',
  'procps',
  'python3-openvswitch',
  'strongswan-charon',
  'strongswan-starter',
  'tcpdump',
];

/** A minimal system without documentation. */
export const OPTIONS: readonly string[] = [
  '--variant=minbase',
  '--aptopt=Acquire::Languages "none"',
  '--dpkgopt=path-exclude=/usr/share/man/*',
  '--dpkgopt=path-exclude=/usr/share/locale/*',
  '--dpkgopt=path-exclude=/usr/share/doc/*',
];

/** mmdebstrap(1) arguments that write the tree of `mirror` into `target`. */
export const mmdebstrapArguments = (mirror: string, target: string): string[] => [
  ...OPTIONS,
  `--include=${PACKAGES.join(',')}`,
  SUITE,
  target,
  mirror,
];

/** Names the tree in the cache: the same recipe gives the same name. */
export const recipeKey = (architecture: string): string => {
  const digest = createHash('sha256')
    .update(JSON.stringify([SUITE, PACKAGES, OPTIONS, architecture]))
    .digest('hex');
  return `tree-${SUITE}-${digest.slice(0, 12)}`;
};

/**
 * The Debian mirror that this machine's apt uses, from a deb822 or one-line sources file; undefined when there is none.
 */
export const mirrorIn = (sources: string): string | undefined =>
  /^(?:URIs:\s*|deb\s+(?:\[[^\]]*\]\s+)?)(https?:\/\/\S+\/debian)\/?(?=\s|$)/m.exec(sources)?.[1];
