/**
 * The pipeline of the gateway bridge: tables, priorities, groups and registers. Numbers are those of ovn-kubernetes where
 * it has them, so that people find what they know. How packets walk through it: docs/datapath.md.
 */

export const FLOW_TABLES = {
  /** Where every packet begins. */
  classify: 0,
  /** Packets to the bridge's MAC, after conntrack has been asked whose they are. */
  replies: 1,
  /** From the host to services: which network's patch port. */
  services: 2,
  /** To the host, with the MAC addresses turned round. */
  toHost: 3,
  /** From OVN to the host: behind OVN's masquerade address. */
  hairpin: 4,
  /** From the host, back to what `hairpin` has let through. */
  hairpinReplies: 5,
  /** To host-network endpoints of services. No flows yet. */
  toHostEndpoint: 6,
  /** From host-network endpoints of services. No flows yet. */
  fromHostEndpoint: 7,
  /** Local gateway mode: replies that are too large for the network go to the host, which says so to the sender. */
  replySize: 11,
  /** A network's question for a neighbour: whether it is answered here, or outside. */
  questions: 20,
  /** Learned flows: which network has asked for a neighbour last. */
  askers: 21,
  /** Makes the answer of a question whose sender's MAC is the neighbour's already. */
  answers: 22,
  /** From one network to a Service of another one on the same node, and back. */
  betweenNetworks: 23,
  /** OVS's own conntrack: what it has translated leaves, and nothing else does. */
  leave: 25,
  /** From outside, and no answer to somebody here: node ports and external addresses of Services. */
  servicesOutside: 26,
  /** From a localnet's pods to the node, after conntrack has been asked whose connection it is. */
  fromLocalnet: 27,
} as const;

export type FlowTable = keyof typeof FLOW_TABLES;

interface FlowPriority {
  readonly priority: number;
  readonly purpose: string;
}

const rank = (priority: number, purpose: string): FlowPriority => ({ priority, purpose });

/** By table, the highest first. */
export const FLOW_PRIORITIES = {
  classify: {
    senderAs: rank(730, 'record the sending network and that the source is its gateway router'),
    sender: rank(720, 'record the sending network: all networks share the flows below'),
    tunnelPort: rank(710, 'drop traffic of networks to tunnels of nodes: it could inject frames into any network'),
    pathMtu: rank(700, 'drop path MTU messages to other nodes: they would lower the MTU between the nodes'),
    bfd: rank(650, 'local gateway: BFD of the default network'),
    localnetFragment: rank(645, 'from localnet pods where the node is: reassemble fragments'),
    localnetSpoofed: rank(
      640,
      'drop what localnet pods send as the node, as its next hops, or with masquerade addresses',
    ),
    localnetToNode: rank(630, 'from localnet pods to this node: look up the network of the connection in conntrack'),
    localnetAnswer: rank(625, 'ARP of localnet pods to this node: to the default network and the host, to no tenant'),
    localnet: rank(620, 'everything else of localnet pods: a switch with learned addresses'),
    masqueradedToService: rank(550, 'from the host to services, with a masquerade address as source already'),
    masquerade: rank(500, 'to and from services and the host itself, by fixed masquerade addresses'),
    masqueradeKnown: rank(
      490,
      'established connections of a tenant’s pods to this node as an endpoint, even after it stopped being one',
    ),
    masqueradeIn: rank(320, 'drop traffic from outside with a masquerade address as its source'),
    serviceAnswerBetween: rank(310, 'replies of a Service to another network of this node'),
    serviceBetweenAsNode: rank(301, 'from the default network to an external address of a tenant’s Service'),
    serviceBetween: rank(300, 'from a tenant to an external address of another network’s Service'),
    tunnelToHost: rank(205, 'Geneve to this node, and ESP of other nodes'),
    tunnel: rank(200, 'Geneve of this node, and past it; ESP to other nodes'),
    tunnelUnknown: rank(199, 'drop Geneve of everybody else whom no flow knows as the sender'),
    hairpin: rank(175, 'local gateway: from a network to the host, with the node’s own address'),
    errorOfPods: rank(126, 'drop ICMP errors that a network’s pods send to another network'),
    errorBetween: rank(125, 'ICMP errors about what another network of this node has sent to a Service'),
    masqueradeLeak: rank(120, 'drop other traffic with masquerade addresses, which are valid on this node only'),
    loopbackLeak: rank(
      119,
      'drop what is for a loopback address: no host has one on a link (RFC 1122, section 3.2.1.3)',
    ),
    serviceLeak: rank(115, 'drop traffic of a network to Services that its load balancers did not translate'),
    fragment: rank(112, 'reassemble fragments'),
    serviceAnswer: rank(110, 'replies of a Service from a node port or an external address'),
    nodeSnat: rank(105, 'to the outside with the node’s address, by a mark of OVN'),
    untranslated: rank(
      104,
      'drop traffic that the router of the default network did not translate, with a pod address as its source',
    ),
    hostSubnetAsNode: rank(103, 'to neighbours of the node, with its address: no two networks with the same port'),
    hostSubnet: rank(102, 'to neighbours of the node'),
    egressAsNode: rank(101, 'to the outside, with the node’s address: no two networks with the same port'),
    egress: rank(100, 'to the outside: record the network of the connection'),
    neighbourQuestion: rank(95, 'ARP requests and neighbour solicitations of a tenant network, as the node'),
    error: rank(93, 'ICMP errors of a tenant network’s router, from addresses of its Services'),
    spoofed: rank(90, 'drop everything else of a tenant network'),
    toNode: rank(50, 'IP to this node: look up the network of the connection in conntrack'),
    asNode: rank(14, 'other traffic of the host and the default network with the node’s address'),
    asNodeUnknown: rank(
      13,
      'drop other traffic with the node’s address: from a patch port whose flows are not installed yet',
    ),
    nodeQuestion: rank(12, 'ARP and neighbour requests for the node’s address: only the default network answers'),
    toBridge: rank(10, 'ARP replies to the default network, the host and the requesting network'),
    spoofedDefault: rank(9, 'drop everything else of the default network'),
    normal: rank(0, 'a switch with learned addresses'),
  },
  replies: {
    service: rank(110, 'new traffic from outside: look for a Service'),
    ofOtherNodes: rank(105, 'local gateway: replies of endpoints on other nodes, to the requesting gateway router'),
    known: rank(100, 'of a known connection: to its network, or to the host'),
    neighbour: rank(14, 'neighbour advertisements, as ARP replies; router advertisements reach no tenant'),
    bfd: rank(13, 'BFD to the default network and the host'),
    toBridge: rank(10, 'unknown: to the host'),
    normal: rank(0, 'a switch with learned addresses'),
  },
  services: {
    allowedForAll: rank(300, 'Services of the default network that all networks reach: the Kubernetes API, DNS'),
    ofHostEndpoint: rank(260, 'replies of this node as an endpoint: to the requesting tenant, by its conntrack mark'),
    byMark: rank(250, 'by the mark of a network'),
    hostSource: rank(210, 'traffic of the host with its masquerade address: to the default network'),
    tenantSource: rank(200, 'drop traffic of pods of tenant networks to Services of other networks'),
    default: rank(100, 'everything else: to the default network'),
  },
  toHost: { any: rank(32_768, 'swap the MAC addresses') },
  hairpin: {
    unknown: rank(10, 'drop traffic that conntrack did not translate: a tenant’s pods reach no other port of the node'),
    any: rank(0, 'translate the source'),
  },
  hairpinReplies: { any: rank(0, 'translate back') },
  toHostEndpoint: {},
  fromHostEndpoint: {},
  replySize: {
    tooLarge: rank(10, 'to the host'),
    network: rank(5, 'to the network'),
    default: rank(1, 'to the default network'),
  },
  questions: {
    known: rank(20, 'request for a neighbour known to the node: answered here, one flow for all networks'),
    ask: rank(10, 'request for any other neighbour: sent outside, the requesting network is learned'),
  },
  askers: { asker: rank(10, 'learned: the reply goes to the network that asked last') },
  answers: { any: rank(10, 'swap sender and target') },
  betweenNetworks: {
    service: rank(30, 'from the default network, with OVN’s masquerade address'),
    asNode: rank(20, 'replies: translate back'),
    network: rank(10, 'to the requesting network, by its address'),
  },
  servicesOutside: {
    service: rank(
      10,
      'to a node port or an external address of a Service: to its network, replacing older connections',
    ),
    none: rank(0, 'not for a Service: continue without it'),
  },
  fromLocalnet: {
    neighbour: rank(30, 'neighbour advertisements: to the default network and the host, to no tenant'),
    known: rank(20, 'of a connection of the default network or the host'),
    ofTenant: rank(10, 'drop what claims to be of a connection of a tenant'),
    toHost: rank(0, 'to the host'),
  },
  leave: {
    notTranslated: rank(40, 'drop traffic that conntrack could not translate'),
    neighbour: rank(30, 'to neighbours of the node, with its address'),
    ofHost: rank(20, 'of the host, to the outside with its address'),
    asNode: rank(10, 'to the outside with the node’s address'),
  },
} as const satisfies Readonly<Record<FlowTable, Readonly<Record<string, FlowPriority>>>>;

/**
 * The only flow of ours on the integration bridge. ovn-controller's go up to 180 in that table (OVN 25.03), and its own
 * packets begin behind it.
 */
export const INTEGRATION_FLOWS = {
  routerAdvertisement: {
    table: 0,
    ...rank(1000, 'drop router advertisements of pods; those of OVN’s routers enter later in the pipeline'),
  },
} as const satisfies Readonly<Record<string, FlowPriority & { readonly table: number }>>;

/** What the flows above have in common: of the integration bridge nothing else is looked at. */
export const INTEGRATION_SCOPE = 'table=0,icmp6,icmp_type=134';

/** Ids of conjunctive matches (ovs-fields(7), "Conjunctive Match Fields"): unique in a table. */
export const CONJUNCTIONS = {
  /** By a patch port, to an address of a node, to a port of tunnels. */
  tunnelPort: 1,
} as const;

/** Groups of earlier versions, by id: removed where they are found. */
export const FORMER_GROUPS = {
  /** Patch ports of all networks but the default one. */
  tenantPatches: 1,
} as const;

/** Registers and bits of them, as ovs-ofctl prints them. No packet goes through both tables that use the same ones. */
export const FLOW_REGISTERS = {
  /** Set when the packet is larger than its network's MTU. */
  tooLarge: 'NXM_NX_REG0[0]',
  /** Set in `replies` when what came is for no Service. */
  notForService: 'reg1',
  /** In `answers`: who has asked, while addresses change places. */
  asker: 'NXM_NX_REG0[]',
  /** `ct_mark` of the network that has sent the packet. Patch ports clear registers: no packet takes it along to another network. */
  networkMark: 'reg2',
  /** Who has sent the packet, by the bits of `SENDERS`; 0 for the host, for what comes from outside, and for unknown ports. */
  sender: 'reg3',
} as const;

/** Bits of `FLOW_REGISTERS.sender`. */
export const SENDERS = {
  /** Any network, the default one included. */
  network: 0x1,
  tenant: 0x2,
  /** A network with this family here. */
  ipv4: 0x4,
  ipv6: 0x8,
  /** A tenant's gateway router, from its join address: what its load balancers send on. */
  router: 0x10,
  /** The same, from the network's masquerade address: what pods send. */
  masqueraded: 0x20,
  /** A tenant none of whose pods has an address of the node's bridge: ICMP errors from there are its router's. */
  speaksAsNode: 0x40,
  /** A localnet's pods: no network in the sense of the bits above. */
  localnet: 0x80,
  /** A localnet that is in the node's own VLAN. */
  besideNode: 0x100,
} as const;

export type Sender = keyof typeof SENDERS;
