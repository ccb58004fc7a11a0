/**
 * What a person wrote about each incident, in the order of docs/operations.md. Its output is not written by hand: `recorded.json` has it,
 * and `tools/operations-docs.ts` makes the page of both. Links are relative to docs/.
 */

export interface IncidentPage {
  readonly id: string;
  readonly title: string;
  /** What users and operators notice first. */
  readonly symptom: string;
  readonly cause: string;
  readonly remedy: string;
}

export const INCIDENTS = [
  {
    id: 'uplink',
    title: 'The uplink is off the gateway bridge',
    symptom: 'no pod of the node reaches the outside, or pods of other nodes; the node itself may be unreachable.',
    cause: `a person or a network manager took the uplink from \`br-ex\`. Here the node reaches the API server by that uplink only, so its agent cannot
report: the cluster manager sets the condition, and the other nodes report that their tunnels to it are silent. \`udnctl\` ends after some
eight seconds, with what the API server knows in its first line. Where the node has another route to the API server, the condition's reason is \`UplinkNotOnBridge\`, and \`udnctl problems\`
names the uplink: \`uplink eth0 is not on br-ex: no traffic leaves this node\`. In both cases the node accepts no new pods.
No process is restarted: the readiness probe asks \`/readyz\`, the liveness probe \`/healthz\`.`,
    remedy: '`ovs-vsctl add-port br-ex eth0` on the node. What waits for the port is programmed within a second.',
  },
  {
    id: 'ovn-controller',
    title: 'ovn-controller has stopped',
    symptom: `running pods keep working; new pods of the node stay in ContainerCreating, and changes of Services have no effect there. The process
may still exist.`,
    cause: `ovn-controller does not follow the southbound database: it hangs, was stopped, or computes without end. The agent finds it within 15
seconds, without a new pod; the node accepts no new pods meanwhile. ovs-vswitchd and the databases are reported in the same way.`,
    remedy: 'restart ovn-controller; it catches up at once, and the condition is reset by itself.',
  },
  {
    id: 'ovn-northd',
    title: 'ovn-northd has stopped',
    symptom: 'as with ovn-controller: running pods keep working, and nothing new is programmed on the node.',
    cause:
      'ovn-northd does not translate the northbound database of the node. What ovn-controller does is unknown until it runs again.',
    remedy: 'restart ovn-northd; it catches up at once.',
  },
  {
    id: 'database',
    title: 'conf.db has no disk',
    symptom: 'pods of one node stay in ContainerCreating.',
    cause: `ovsdb-server answers and rejects writes: the disk of \`conf.db\` is full, or fails. The message is that of ovsdb-server; the pod's events
(\`ErrorAttachingPod\`) have it, too.`,
    remedy: 'free space, or repair the disk. Pods start when the kubelet retries.',
  },
  {
    id: 'mtu',
    title: 'The MTU is too large',
    symptom: 'connections between nodes open and then hang; small packets pass.',
    cause: `the MTU of a network and the header of its tunnels are more than the link carries. The Node has the condition
\`NetworkMTUTooLarge\`, with the first of these messages, and for the default network an event (\`MTUTooLarge\`).`,
    remedy: 'raise the MTU of the uplink on every node, or lower that of the networks.',
  },
  {
    id: 'kubelet-cgroup',
    title: 'The kubelet is outside of its cgroup',
    symptom: 'pods with a primary network are restarted, because their probes fail; other pods are not.',
    cause: `host isolation knows the kubelet by its cgroup: it runs in another one, and the cgroup is empty, or does not exist
([host isolation](host-isolation.md)).`,
    remedy: 'start the kubelet as a service of systemd, or give the agent `--kubelet-cgroup`.',
  },
  {
    id: 'nftables',
    title: 'Another program flushes nftables',
    symptom:
      'no lasting one. The agent restores the rules within a second; in between, processes of the node reach pods of tenants.',
    cause:
      'a firewall, a script or another CNI plugin runs `nft flush ruleset`, which deletes the tables of others, too.',
    remedy: `find that program, and let it flush only its own tables. The repair is counted in \`udn_agent_drift_repairs_total\` and logged.`,
  },
  {
    id: 'nad-deleted',
    title: 'The NAD of a network is deleted',
    symptom: 'running pods keep working; new ones do not start.',
    cause:
      'a NetworkAttachmentDefinition of a UserDefinedNetwork was deleted by hand. It waits for the pods that use it.',
    remedy: 'delete the pods. The cluster manager recreates the NAD, and new pods start.',
  },
  {
    id: 'deletion',
    title: 'A network is stuck in its deletion',
    symptom: '`kubectl delete` of a UserDefinedNetwork does not return.',
    cause: 'pods still use it.',
    remedy: `delete the workloads first. Do not remove the finalizer: the network's id would be allocated to another one while nodes still use it.`,
  },
  {
    id: 'label',
    title: 'A namespace without the label',
    symptom: 'pods are on the default network, although their namespace has a UserDefinedNetwork.',
    cause: 'the namespace was created without the label that a primary network needs, and it cannot be added later.',
    remedy: 'recreate the namespace with the label `k8s.ovn.org/primary-user-defined-network`.',
  },
  {
    id: 'subnet',
    title: 'A subnet has no address left',
    symptom:
      'pods stay in ContainerCreating, on one node (layer 3: its part of the subnet is full) or on all (layer 2).',
    cause: `all addresses are in use: \`udnctl usage NETWORK\` counts them. On layer 3 it is \`[addresses-exhausted]\` of \`udnctl problems\` on the node,
too.`,
    remedy:
      'delete pods that are not needed; those that wait start in the order of their creation. A network with more addresses is a new network.',
  },
  {
    id: 'address',
    title: 'An address that another pod has',
    symptom: 'a pod that sets its own address, such as one with a copied annotation, does not start.',
    cause: 'the pod has the annotation `k8s.ovn.org/pod-networks` of another one, which only ovn-udn may write.',
    remedy:
      'delete the pod, and apply it without the annotation; [addresses.md](addresses.md) describes how to request addresses.',
  },
] as const satisfies readonly IncidentPage[];

export type IncidentId = (typeof INCIDENTS)[number]['id'];
