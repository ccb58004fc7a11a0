import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { judgeVersion, OPEN_VSWITCH, OVN } from './daemon-versions.ts';

it.each([
  ['3.5.0', 'supported', 'Open vSwitch 3.5.0'],
  ['3.10.1', 'supported', 'Open vSwitch 3.10.1'],
  ['4.0', 'supported', 'Open vSwitch 4.0'],
  ['3.4.9', 'too-old', 'Open vSwitch 3.4.9'],
  ['2.17.0', 'too-old', 'Open vSwitch 2.17.0'],
  ['', 'unknown', 'Open vSwitch'],
  ['(Open vSwitch)', 'unknown', 'Open vSwitch'],
  [undefined, 'unknown', 'Open vSwitch'],
] as const)('Open vSwitch %s is %s', (text, verdict, what) => {
  expect(judgeVersion(OPEN_VSWITCH, text)).toMatchObject({ verdict, what });
});

it.each([
  ['25.03.0-20.41.0-79.8', 'supported', 'OVN 25.03.0'],
  ['26.03.1-21.2.0-80.1', 'supported', 'OVN 26.03.1'],
  ['24.09.2-20.37.0-77.5', 'too-old', 'OVN 24.09.2'],
] as const)('OVN %s is %s', (text, verdict, what) => {
  expect(judgeVersion(OVN, text)).toMatchObject({ verdict, what });
});

it('an older version has what to do, an unknown one where it would be', () => {
  expect(judgeVersion(OVN, '24.03.1').message).toBe(
    'older than 25.03, the oldest that ovn-udn supports: upgrade OVN on this node, then restart its daemons',
  );
  expect(judgeVersion(OPEN_VSWITCH, undefined).message).toBe(
    'version unknown: column ovs_version of table Open_vSwitch, which ovs-ctl sets at its start, is not set; ovn-udn needs Open vSwitch 3.5 or newer',
  );
});

it('the requirements of a node name the same versions', () => {
  expect(readFileSync('daemonset/README.md', 'utf8')).toContain(
    `- Open vSwitch ${OPEN_VSWITCH.minimum} or newer and an OVN zone of its own, OVN ${OVN.minimum} or newer:`,
  );
});
