/** Versions of this node's Open vSwitch and OVN, as its databases have them: known without asking, and again after an upgrade. */
import type { Logger } from 'pino';
import { type DaemonVersion, judgeVersion, NORTHD_VERSION_KEY, OPEN_VSWITCH, OVN } from '../../api/daemon-versions.ts';
import type { Databases } from '../databases/databases.ts';
import type { Problem } from '../inputs/problem.ts';

interface VersionedReplicas {
  readonly openvswitch: { readonly replica: Pick<Databases['openvswitch']['replica'], 'rows'> };
  readonly northbound: { readonly replica: Pick<Databases['northbound']['replica'], 'rows'> };
}

export const daemonVersions = ({ openvswitch, northbound }: VersionedReplicas): readonly DaemonVersion[] => {
  const [vswitch] = openvswitch.replica.rows('Open_vSwitch');
  const [zone] = northbound.replica.rows('NB_Global');
  return [judgeVersion(OPEN_VSWITCH, vswitch?.ovs_version), judgeVersion(OVN, zone?.options[NORTHD_VERSION_KEY])];
};

/** At the start. The agent runs all the same: most of what it programs may work, and pods of before keep their network. */
export const logVersions = (versions: readonly DaemonVersion[], log: Pick<Logger, 'info' | 'warn' | 'error'>): void => {
  for (const { verdict, what, message } of versions) {
    if (verdict === 'too-old') log.error(`${what} is ${message}`);
    else if (verdict === 'unknown') log.warn(`${what}: ${message}`);
    else log.info(`found ${what}`);
  }
};

/** Those that are too old. An unknown version is in the log and in `udnctl check`: without ovs-ctl nobody sets one. */
export const problemsOfVersions = (node: string, versions: readonly DaemonVersion[]): Problem[] =>
  versions
    .filter(({ verdict }) => verdict === 'too-old')
    .map(({ what, message }) => ({
      object: `Node/${node}`,
      message: `${what} is ${message}`,
      cause: 'daemon-too-old',
    }));
