/** The OVS and OVN daemons of a node, as a distribution's units start them, in the foreground with the log on stderr. */

export const DAEMONS = ['ovsdb-server', 'nb', 'sb', 'ovs-vswitchd', 'northd', 'ovn-controller'] as const;
export type DaemonName = (typeof DAEMONS)[number];

/** Where tunnels are encrypted, plan/encryption.ts. */
const ENCRYPTION_DAEMON = 'ovs-monitor-ipsec';

export interface DaemonSpec {
  readonly name: DaemonName | typeof ENCRYPTION_DAEMON;
  readonly argv: readonly string[];
  /** It is there when this socket is: for the database servers. */
  readonly socket?: string;
}

/** Where the programs run that there is one of, for `kill`. */
export const CONTROL_PLANE = 'control-plane';

/** What can be killed: the daemons and programs of a node, and those of the control plane. */
export const KILLABLE = [
  ...DAEMONS,
  ENCRYPTION_DAEMON,
  'agent',
  'kubelet',
  'containerd',
  'api',
  'etcd',
  'controller-manager',
  'scheduler',
  'cluster-manager',
] as const;
export type KillableName = (typeof KILLABLE)[number];

export const OVS_SOCKET = '/run/openvswitch/db.sock';
export const NB_SOCKET = '/run/ovn/ovnnb_db.sock';
export const SB_SOCKET = '/run/ovn/ovnsb_db.sock';

export interface DatabaseSpec {
  readonly name: 'ovsdb-server' | 'nb' | 'sb';
  /** In the tree. */
  readonly schema: string;
  /** On the node. */
  readonly path: string;
}

export const DATABASES: readonly DatabaseSpec[] = [
  {
    name: 'ovsdb-server',
    schema: 'usr/share/openvswitch/vswitch.ovsschema',
    // /etc/openvswitch/conf.db is a link to it, made by Debian's package.
    path: '/var/lib/openvswitch/conf.db',
  },
  { name: 'nb', schema: 'usr/share/ovn/ovn-nb.ovsschema', path: '/var/lib/ovn/ovnnb_db.db' },
  { name: 'sb', schema: 'usr/share/ovn/ovn-sb.ovsschema', path: '/var/lib/ovn/ovnsb_db.db' },
];

const LOGGING: readonly string[] = ['-vconsole:info', '-vsyslog:off', '-vfile:off'];

/** What ovs-ctl(8) and ovn-ctl(8) start them with. */
const PRIORITY: readonly string[] = ['/usr/bin/nice', '-n', '-10'];

/** Start the database servers first: a client that finds no socket comes back only after a second. */
export const daemonSpecs = (): readonly DaemonSpec[] =>
  daemons().map((spec) => (isPreferred(spec.name) ? { ...spec, argv: [...PRIORITY, ...spec.argv] } : spec));

/** The databases of OVN have no priority of their own, ovn-ctl(8). */
const isPreferred = (name: DaemonSpec['name']): boolean => name !== 'nb' && name !== 'sb';

const daemons = (): readonly DaemonSpec[] => [
  databaseServer('ovsdb-server', OVS_SOCKET, [
    '/etc/openvswitch/conf.db',
    '--remote=db:Open_vSwitch,Open_vSwitch,manager_options',
    '--pidfile=/run/openvswitch/ovsdb-server.pid',
  ]),
  databaseServer('nb', NB_SOCKET, [
    '/var/lib/ovn/ovnnb_db.db',
    '--remote=db:OVN_Northbound,NB_Global,connections',
    '--pidfile=/run/ovn/ovnnb_db.pid',
    '--unixctl=/run/ovn/ovnnb_db.ctl',
  ]),
  databaseServer('sb', SB_SOCKET, [
    '/var/lib/ovn/ovnsb_db.db',
    '--remote=db:OVN_Southbound,SB_Global,connections',
    '--pidfile=/run/ovn/ovnsb_db.pid',
    '--unixctl=/run/ovn/ovnsb_db.ctl',
  ]),
  {
    name: 'ovs-vswitchd',
    argv: ['/usr/sbin/ovs-vswitchd', `unix:${OVS_SOCKET}`, '--pidfile=/run/openvswitch/ovs-vswitchd.pid', ...LOGGING],
  },
  {
    name: 'northd',
    argv: [
      '/usr/bin/ovn-northd',
      `--ovnnb-db=unix:${NB_SOCKET}`,
      `--ovnsb-db=unix:${SB_SOCKET}`,
      '--pidfile=/run/ovn/ovn-northd.pid',
      ...LOGGING,
    ],
  },
  {
    name: 'ovn-controller',
    argv: ['/usr/bin/ovn-controller', `unix:${OVS_SOCKET}`, '--pidfile=/run/ovn/ovn-controller.pid', ...LOGGING],
  },
];

const databaseServer = (name: DaemonName, socket: string, args: readonly string[]): DaemonSpec => ({
  name,
  argv: ['/usr/sbin/ovsdb-server', ...args, `--remote=punix:${socket}`, ...LOGGING],
  socket,
});
