/**
 * The oldest Open vSwitch and OVN that a node may run: those that everything is tested with. An older one may lack columns and actions
 * that the agent uses, or have defects that nothing here has met; docs/adr/0102 says why the line is not drawn further back.
 */

export interface DaemonKind {
  readonly name: string;
  /** `major.minor`, as the project counts. */
  readonly minimum: string;
  /** Where the version comes from, and who writes it there. */
  readonly source: string;
}

export const OPEN_VSWITCH: DaemonKind = {
  name: 'Open vSwitch',
  minimum: '3.5',
  source: 'column ovs_version of table Open_vSwitch, which ovs-ctl sets at its start',
};

/** ovn-northd writes it at its start, followed by those of the southbound schema and of its own flows: `25.03.0-20.41.0-79.8`. */
export const OVN: DaemonKind = {
  name: 'OVN',
  minimum: '25.03',
  source: 'option northd_internal_version of table NB_Global, which ovn-northd sets at its start',
};

/** Key of `NB_Global.options`. */
export const NORTHD_VERSION_KEY = 'northd_internal_version';

export interface DaemonVersion {
  /** `unknown`: nobody may take it for a version that is new enough. */
  readonly verdict: 'supported' | 'too-old' | 'unknown';
  /** `Open vSwitch 3.5.0` */
  readonly what: string;
  /** What to do; empty when supported. */
  readonly message: string;
}

/** @param text undefined: the database has none */
export const judgeVersion = ({ name, minimum, source }: DaemonKind, text: string | undefined): DaemonVersion => {
  const [, version = '', major = '', minor = ''] = VERSION.exec(text ?? '') ?? [];
  if (version === '') {
    const found = text === undefined || text === '' ? 'is not set' : `has ${JSON.stringify(text)}, which is no version`;
    const message = `version unknown: ${source}, ${found}; ovn-udn needs ${name} ${minimum} or newer`;
    return { verdict: 'unknown', what: name, message };
  }
  const what = `${name} ${version}`;
  if (!isOlder([Number(major), Number(minor)], minimum)) return { verdict: 'supported', what, message: '' };
  const message = `older than ${minimum}, the oldest that ovn-udn supports: upgrade ${name} on this node, then restart its daemons`;
  return { verdict: 'too-old', what, message };
};

/** What follows, such as `-20.41.0-79.8` or `~rc1`, decides nothing. */
const VERSION = /^v?((\d{1,4})\.(\d{1,4})(?:\.\d+)*)/;

const isOlder = ([major, minor]: readonly [number, number], minimum: string): boolean => {
  const [least = 0, leastMinor = 0] = minimum.split('.').map(Number);
  return major < least || (major === least && minor < leastMinor);
};
