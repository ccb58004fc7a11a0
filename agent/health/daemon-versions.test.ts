import { expect, it } from 'vitest';
import { daemonVersions, logVersions, problemsOfVersions } from './daemon-versions.ts';

type Replicas = Parameters<typeof daemonVersions>[0];

const replicas = (vswitch: object[], zone: object[]): Replicas =>
  ({
    openvswitch: { replica: { rows: () => vswitch.values() } },
    northbound: { replica: { rows: () => zone.values() } },
  }) as unknown as Replicas;

const logged = (versions: ReturnType<typeof daemonVersions>): string[] => {
  const lines: string[] = [];
  const at = (level: string) => (text: string) => void lines.push(`${level} ${text}`);
  logVersions(versions, { info: at('info'), warn: at('warn'), error: at('error') } as Parameters<
    typeof logVersions
  >[1]);
  return lines;
};

it('what is too old is a problem of the node, and an error in the log', () => {
  const versions = daemonVersions(
    replicas([{ ovs_version: '2.17.0' }], [{ options: { northd_internal_version: '25.03.0-20.41.0-79.8' } }]),
  );
  const message =
    'Open vSwitch 2.17.0 is older than 3.5, the oldest that ovn-udn supports: upgrade Open vSwitch on this node, then restart its daemons';
  expect(problemsOfVersions('node-1', versions)).toEqual([{ object: 'Node/node-1', message, cause: 'daemon-too-old' }]);
  expect(logged(versions)).toEqual([`error ${message}`, 'info found OVN 25.03.0']);
});

it('without rows, and without a version in them, both are unknown, and no problem', () => {
  for (const databases of [replicas([], []), replicas([{ ovs_version: undefined }], [{ options: {} }])]) {
    const versions = daemonVersions(databases);
    expect(versions.map(({ verdict }) => verdict)).toEqual(['unknown', 'unknown']);
    expect(problemsOfVersions('node-1', versions)).toEqual([]);
    expect(logged(versions).map((line) => line.slice(0, 40))).toEqual([
      'warn Open vSwitch: version unknown: colu',
      'warn OVN: version unknown: option northd',
    ]);
  }
});
