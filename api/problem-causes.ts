/**
 * What can be wrong on a node, by a name for programs: `udnctl problems` groups by it. An entry names the causes that it may follow
 * from: of one of them that the node, or the very object, has at the same time it is a consequence. docs/operations.md shows them.
 */
interface CauseEntry {
  /** Several problems of the cause in one phrase. */
  readonly summary: string;
  /** What to do, without a full stop. */
  readonly next: string;
  readonly follows?: readonly string[];
}

export const PROBLEM_CAUSES = {
  'address-conflict': {
    summary: 'pods have, or request, addresses that belong to other pods',
    next: 'delete the pod that came later, or correct its annotation k8s.ovn.org/pod-networks',
  },
  'addresses-exhausted': {
    summary: 'this node’s part of a subnet has no free address left',
    next: 'delete pods that are not needed, or run new ones on other nodes; a network with more addresses is a new network',
  },
  'api-server-unreachable': {
    summary: 'the API server does not answer, or rejects the credentials of the agent',
    next: 'check the API server, the network of this node, and the token of the agent’s ServiceAccount',
    follows: ['uplink-off-bridge', 'vswitchd-not-responding'],
  },
  'api-unread': {
    summary: 'not everything was read from the API server yet',
    next: 'check that the node reaches the API server, and the rights of the agent: udnctl check',
    follows: ['api-server-unreachable'],
  },
  'backend-failing': {
    summary: 'a part of the datapath does not answer',
    next: 'check ovs-vswitchd and nft on this node; the agent retries with backoff',
    follows: ['vswitchd-not-responding'],
  },
  'changed-by-others': {
    summary: 'another program changes what the agent programs on this node',
    next: 'find the program that changes it: another firewall, network manager, CNI plugin or script; until the change is repaired, forbidden packets can pass',
  },
  'cni-busy': {
    summary: 'more CNI calls at once than the limit',
    next: 'the kubelet retries; if the problem persists, find pods whose ADD waits: udnctl pods',
    follows: ['database-unreachable', 'backend-failing'],
  },
  'cni-configuration-foreign': {
    summary: 'the container runtime reads the configuration of another CNI plugin first',
    next: 'remove the other plugin and its file from the node, then recreate the pods that it has started',
  },
  'cni-internal': {
    summary: 'CNI calls failed',
    next: 'look for "CNI call failed" in the log of the agent',
  },
  'cni-kernel': {
    summary: 'the kernel refused interfaces of pods',
    next: 'the message has the kernel’s error; the kubelet retries',
  },
  'cni-nftables': {
    summary: 'pods are not isolated from processes of the node, and are not started',
    next: 'check that nft is installed and the kernel has nf_tables: udnctl doctor',
    follows: ['backend-failing'],
  },
  'cni-not-installed': {
    summary: 'the CNI plugin or its configuration cannot be installed',
    next: 'the message has the error: free disk space, or make the folder writable (df, mount); the agent retries',
  },
  'cni-ovn': {
    summary: 'ovn-controller does not install ports of pods',
    next: 'check ovn-controller and ovn-northd on this node',
    follows: [
      'database-unreachable',
      'database-failed',
      'vswitchd-not-responding',
      'northd-not-processing',
      'controller-not-processing',
    ],
  },
  'cni-ovsdb': {
    summary: 'the Open vSwitch database rejects ports of pods',
    next: 'the message has the answer of ovsdb-server: check its disk and its log',
    follows: ['database-unreachable', 'database-failed'],
  },
  'cni-refused': {
    summary: 'requests of pods, or of the container runtime, cannot be served',
    next: 'correct the pod: the message names what is wrong',
    follows: ['pod-refused'],
  },
  'cni-waiting-for-network': {
    summary: 'pods have no addresses yet',
    next: 'udnctl why pod NAMESPACE/NAME says what is missing',
    follows: ['network-awaited', 'addresses-exhausted', 'address-conflict', 'api-unread'],
  },
  'connections-nearly-full': {
    summary: 'networks are close to their connection limit on this node',
    next: 'find the pods that open them: conntrack -L; the limit is --connections-per-network',
  },
  'connections-unlimited': {
    summary: 'limits of connections cannot be written',
    next: 'the message has the answer of ovsdb-server of Open vSwitch: check its disk and its log',
    follows: ['database-unreachable', 'database-failed'],
  },
  'controller-not-processing': {
    summary: 'ovn-controller does not follow the southbound database',
    next: 'check the process and the log of ovn-controller on this node; restart it',
    follows: ['vswitchd-not-responding', 'database-unreachable', 'database-failed'],
  },
  'daemon-too-old': {
    summary: 'Open vSwitch or OVN of this node is older than what is supported',
    next: 'upgrade it on this node, then restart its daemons; daemonset/README.md has the oldest versions',
  },
  'database-failed': {
    summary: 'databases of this node do not answer, or reject writes',
    next: 'check the disk and the log of ovsdb-server: df, journalctl',
    follows: ['database-unreachable'],
  },
  'database-unreachable': {
    summary: 'databases of this node cannot be reached',
    next: 'check the ovsdb-server processes of this node and their sockets',
  },
  'endpoint-refused': {
    summary: 'Services have endpoints that receive no traffic',
    next: 'correct the EndpointSlice, or the selector of the Service: udnctl explain service NAMESPACE/NAME',
  },
  'external-address-refused': {
    summary: 'Services have external addresses that are not allowed',
    next: 'choose other externalIPs: udnctl explain service NAMESPACE/NAME',
  },
  'gateway-missing': {
    summary: 'this node has no gateway: its networks have no path to the outside',
    next: 'the message says what is missing; docs/node.md says how the bridge is found',
    follows: ['database-unreachable'],
  },
  'host-port-refused': {
    summary: 'ports of nodes that pods ask for (hostPort) are not open',
    next: 'the message says who has the port, or why it cannot be opened; choose another one, or reach the pod by a Service',
  },
  'kernel-lacks': {
    summary: 'this kernel lacks features that networks need',
    next: 'docs/node.md says what works without it',
  },
  'kubelet-cgroup-missing': {
    summary: 'the cgroup of the kubelet is unknown, or the kubelet is not in it',
    next: 'run the kubelet in its own cgroup (kubelet.service), or name it with --kubelet-cgroup',
  },
  'machine-elsewhere': {
    summary: 'ports are closed: the virtual machine runs in another pod, which has its addresses',
    next: 'nothing while it migrates; else delete the pod that the machine is not in, or correct the labels of the one that is not of this machine',
  },
  'mtu-too-large': {
    summary: 'packets of networks do not fit the tunnels of this node',
    next: 'lower the MTU of the network, or raise that of the uplink',
  },
  'multi-network-mode': {
    summary: 'the CNI configuration of this node and --multi-network of its agent disagree',
    next: 'set --multi-network=delegated where the container runtime calls Multus, native where it calls ovn-udn',
  },
  'names-unresolved': {
    summary: 'domain names of policies are not resolved: rules about them apply to nothing, or to old addresses',
    next: 'check the names, and that this node reaches its DNS servers (--dns-servers of the agent): docs/admin-policy.md',
  },
  'network-awaited': {
    summary: 'pods wait for their network',
    next: 'udnctl why pod NAMESPACE/NAME says what is missing',
    follows: ['network-invalid', 'primary-taken', 'api-unread'],
  },
  'network-invalid': {
    summary: 'NetworkAttachmentDefinitions cannot be used',
    next: 'correct or delete them: the message names the field',
  },
  'network-status-unwritten': {
    summary: 'the API server refuses what pods are attached to, k8s.v1.cni.cncf.io/network-status',
    next: 'the message has its answer: find the webhook or policy that refuses it; the pods are attached, and the agent retries with backoff',
    follows: ['api-server-unreachable'],
  },
  'network-without-gateway': {
    summary: 'networks have no gateway on this node',
    next: 'the message says what is missing',
    follows: ['gateway-missing'],
  },
  'node-annotation-refused': {
    summary: 'annotations of nodes have addresses that are not theirs',
    next: 'correct the annotation that the message names',
  },
  'node-identity-in-use': {
    summary: 'nodes have an id, a chassis or an address that belongs to another node',
    next: 'delete the outdated Node, or give the machine its own identity',
  },
  'node-unreachable': {
    summary: 'nodes cannot be reached through the API server',
    next: 'check the node itself, its kubelet and its uplink: udnctl status shows what it reported last, and which nodes do not reach it',
  },
  'northd-not-processing': {
    summary: 'ovn-northd does not follow the northbound database',
    next: 'check the process and the log of ovn-northd on this node; restart it',
    follows: ['database-unreachable', 'database-failed'],
  },
  'not-programmed': {
    summary: 'objects of the datapath cannot be programmed',
    next: 'udnctl diff shows what differs; the agent retries with backoff',
  },
  'object-unreadable': {
    summary: 'objects of the API cannot be read in full',
    next: 'correct the field that the message names',
  },
  other: {
    summary: 'other problems',
    next: 'udnctl diff and the log of the agent say more',
  },
  'peer-unprotected': {
    summary: 'no traffic is sent to some nodes: no tunnel to them is encrypted',
    next: 'check strongSwan and ovs-monitor-ipsec on both nodes: docs/encryption.md',
    follows: ['tunnels-not-encrypted'],
  },
  'physical-network-shared': {
    summary: 'localnets of differently named physical networks are one wire: both names are mapped to one bridge',
    next: 'give both the name of one physical network, which lets ovn-udn compare their addresses, or map the names to different bridges',
  },
  'physical-network-unmapped': {
    summary: 'localnets are not on this node: no bridge is mapped to their physical network',
    next: 'map one: ovs-vsctl set Open_vSwitch . external_ids:ovn-bridge-mappings=…,NETWORK:BRIDGE, or keep pods of the network off this node',
    follows: ['database-unreachable'],
  },
  'pod-refused': {
    summary: 'pods request something that they cannot get',
    next: 'correct the pod: the message names what is wrong',
  },
  'policy-not-enforced': {
    summary: 'policies of administrators are not enforced: their tier has no room for them',
    next: 'delete or merge policies of that tier, or move the named one forward by its priority: docs/admin-policy.md',
  },
  'port-removed': {
    summary:
      'ports of running pods were removed from Open vSwitch and could not be added again: the pods have no network',
    next: 'the message says why; recreate these pods if it does not end, and find who removed the ports or the bridge: ovs-vsctl del-port, a service that resets Open vSwitch',
    follows: ['database-unreachable'],
  },
  'primary-taken': {
    summary: 'namespaces have more than one primary network',
    next: 'delete all but one: udnctl networks -n NAMESPACE',
  },
  'service-port-taken': {
    summary: 'ports of Services or pods are in use by other processes of the node',
    next: 'ss -ltnp shows the process; stop it, or choose another port',
  },
  'tunnel-address-missing': {
    summary: 'the tunnel endpoint is an address that this node does not have',
    next: 'correct --encap-ip, or give the node the address',
  },
  'tunnels-not-encrypted': {
    summary: 'tunnels cannot be encrypted',
    next: 'the message names the file or the setting: docs/encryption.md',
  },
  'tunnels-silent': {
    summary: 'nodes do not answer through their tunnels',
    next: 'check that the nodes run, and that UDP port 6081 passes between them',
    follows: [
      'uplink-off-bridge',
      'vswitchd-not-responding',
      'controller-not-processing',
      'tunnel-address-missing',
      'tunnels-not-encrypted',
    ],
  },
  'uplink-off-bridge': {
    summary: 'the uplink is not a port of the gateway bridge',
    next: 'attach it again: ovs-vsctl add-port BRIDGE UPLINK',
    follows: ['database-unreachable'],
  },
  'vswitchd-not-responding': {
    summary: 'ovs-vswitchd does not answer',
    next: 'check the process and the log of ovs-vswitchd on this node; restart it',
  },
  'waiting-for-another': {
    summary: 'objects of the datapath wait for a port, a link or a row',
    next: 'udnctl diff shows what waits',
  },
  'wildcards-unanswered': {
    summary: 'wildcards of domain names stand for nothing: no DNSNameResolver says what they are',
    next: 'check that CoreDNS has the plugin ocp_dnsnameresolver, and that both programs have the same --dns-name-resolver: docs/admin-policy.md',
  },
} as const satisfies Readonly<Record<string, CauseEntry>>;

export type ProblemCause = keyof typeof PROBLEM_CAUSES;

/** Also of an agent that knows more causes than this program. */
export const causeEntry = (cause: string): CauseEntry =>
  Object.hasOwn(PROBLEM_CAUSES, cause) ? PROBLEM_CAUSES[cause as ProblemCause] : PROBLEM_CAUSES.other;
