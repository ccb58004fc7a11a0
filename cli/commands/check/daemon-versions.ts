/** Versions of Open vSwitch and OVN of the node that this is, asked of its databases: also before an agent runs there. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type DaemonKind, judgeVersion, NORTHD_VERSION_KEY, OPEN_VSWITCH, OVN } from '../../../api/daemon-versions.ts';
import type { Transact } from '../../flows/datapaths.ts';
import { lazyDatabase } from '../../node/database.ts';
import { mapOf } from '../../node/wire-values.ts';
import { type Finding, failed, findingOf, ok, warning } from './finding.ts';

export interface NodeDatabases {
  readonly openvswitch: Transact;
  readonly northbound: Transact;
}

export const checkDaemonVersions = ({ openvswitch, northbound }: NodeDatabases): Promise<Finding[]> =>
  Promise.all([
    checkVersionOf(OPEN_VSWITCH, async () => {
      const [answer] = await openvswitch([select('Open_vSwitch', 'ovs_version')]);
      const version = answer?.rows?.[0]?.['ovs_version'];
      // RFC 7047 5.1: an optional column without a value is an empty set.
      return typeof version === 'string' ? version : undefined;
    }),
    checkVersionOf(OVN, async () => {
      const [answer] = await northbound([select('NB_Global', 'options')]);
      return mapOf(answer?.rows?.[0]?.['options'] ?? ['map', []]).get(NORTHD_VERSION_KEY);
    }),
  ]);

const select = (table: string, column: string) => ({ op: 'select', table, where: [], columns: [column] }) as const;

const checkVersionOf = (kind: DaemonKind, read: () => Promise<string | undefined>): Promise<Finding> =>
  findingOf(`${kind.name}, on this node`, async () => {
    const { verdict, what, message } = judgeVersion(kind, await read());
    const subject = `${what}, on this node`;
    if (verdict === 'unknown') return { result: 'unknown', what: subject, message };
    return verdict === 'too-old' ? failed(subject, message) : ok(subject);
  });

/** Where this is no node: a warning, as only nodes can be asked. */
export const VERSIONS_NOT_CHECKED = warning(
  'Open vSwitch and OVN',
  `versions unknown: run udnctl check --before on each node; ${OPEN_VSWITCH.name} ${OPEN_VSWITCH.minimum} and ${OVN.name} ${OVN.minimum} or newer are needed`,
);

/** Sockets of the packages. */
export const OVS_SOCKET = '/run/openvswitch/db.sock';
const NORTHBOUND_SOCKET = '/run/ovn/ovnnb_db.sock';

export const checkOwnVersions = async (): Promise<Finding[]> => {
  const openvswitch = lazyDatabase('Open_vSwitch', `unix:${OVS_SOCKET}`);
  const northbound = lazyDatabase('OVN_Northbound', `unix:${NORTHBOUND_SOCKET}`);
  try {
    return await checkDaemonVersions({ openvswitch: openvswitch.transact, northbound: northbound.transact });
  } finally {
    await Promise.all([openvswitch.close(), northbound.close()]);
  }
};

/**
 * Before an installation that brings both. Where this is no node, nothing is in the way; a socket that nobody serves may be served again.
 * @param remotes by what is reported
 */
export const checkNoOwnDaemons = async (
  remotes: Readonly<Record<'Open_vSwitch' | 'OVN_Northbound', string>> = {
    Open_vSwitch: `unix:${OVS_SOCKET}`,
    OVN_Northbound: `unix:${NORTHBOUND_SOCKET}`,
  },
): Promise<Finding[]> => {
  const states = await Promise.all([
    serving('Open_vSwitch', remotes.Open_vSwitch),
    serving('OVN_Northbound', remotes.OVN_Northbound),
  ]);
  const what = 'no other Open vSwitch or OVN, on this node';
  // Only `bin/ovn-daemon` gives it a control socket without a process id.
  if (states[0] === 'answers' && existsSync(join(dirname(pathOf(remotes.Open_vSwitch)), 'ovsdb-server.ctl')))
    return [ok('Open vSwitch and OVN of the cluster, on this node')];
  const named = (state: Serving) =>
    [OPEN_VSWITCH, OVN].filter((_, index) => states[index] === state).map(({ name }) => name);
  const [running, silent] = [named('answers'), named('silent')];
  if (running.length > 0)
    return [
      failed(
        what,
        `${running.join(' and ')} ${running.length === 1 ? 'runs' : 'run'} here: stop and disable them, or install without OVN in the cluster`,
      ),
    ];
  if (silent.length > 0)
    return [
      warning(
        what,
        `a socket of ${silent.join(' and ')} does not answer within three seconds: see that its daemon is not started again`,
      ),
    ];
  return [ok(what)];
};

type Serving = 'absent' | 'silent' | 'answers';

const pathOf = (remote: string): string => remote.replace(/^unix:/, '');

/** A server that is stopped, or that this user may not ask, is silent: it may be there. */
const serving = async (name: 'Open_vSwitch' | 'OVN_Northbound', remote: string): Promise<Serving> => {
  if (!existsSync(pathOf(remote))) return 'absent';
  const database = lazyDatabase(name, remote);
  try {
    await database.transact([]);
    return 'answers';
  } catch {
    return 'silent';
  } finally {
    await database.close();
  }
};
