/** The entry point of the image of OVN: everything that a list does not have is refused before anything is touched. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const PROGRAM = join(import.meta.dirname, '../../bin/ovn-daemon');

it.each([[], ['northd; id'], ['../ovsdb-server'], [''], ['nb', 'restart'], ['nb', 'ready; id']])(
  'refuses %j',
  (...args) => {
    const { status, stdout, stderr } = spawnSync(PROGRAM, args.flat());
    expect([status, stdout.toString()]).toEqual([2, '']);
    expect(stderr.toString()).toBe(
      'usage: ovn-daemon ovsdb-server|ovs-vswitchd|nb|sb|northd|ovn-controller [run|alive|ready|stop|discard]\n',
    );
  },
);

it('is a script that a shell takes', () => {
  expect(spawnSync('sh', ['-n', PROGRAM]).status).toBe(0);
});

describe('a probe or a hook', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ovn-daemon-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** @param answer of the daemon; undefined: it does not answer */
  const ask = (args: readonly string[], answer: string | undefined, env: NodeJS.ProcessEnv = {}) => {
    const log = join(folder, 'log');
    writeFileSync(log, '');
    const end = answer === undefined ? 'exit 1' : `echo '${answer}'`;
    writeFileSync(join(folder, 'ovs-appctl'), `#!/bin/sh\necho "$@" >> ${log}\n${end}\n`);
    chmodSync(join(folder, 'ovs-appctl'), 0o755);
    const { status } = spawnSync(PROGRAM, args, { env: { PATH: `${folder}:/usr/bin:/bin`, ...env } });
    return { status, asked: readFileSync(log, 'utf8') };
  };

  it.each([
    ['ovsdb-server', 'ready', '/run/openvswitch/ovsdb-server.ctl ovsdb-server/list-dbs', 'Open_vSwitch'],
    ['nb', 'ready', '/run/ovn/ovnnb_db.ctl ovsdb-server/list-dbs', 'OVN_Northbound'],
    ['sb', 'alive', '/run/ovn/ovnsb_db.ctl version', 'ovsdb-server'],
    ['ovs-vswitchd', 'ready', '/run/openvswitch/ovs-vswitchd.ctl version', 'ovs-vswitchd'],
    ['northd', 'ready', '/run/ovn/ovn-northd.ctl status', 'Status: active'],
    ['ovn-controller', 'ready', '/run/ovn/ovn-controller.ctl connection-status', 'connected'],
    ['ovn-controller', 'stop', '/run/ovn/ovn-controller.ctl exit --restart', ''],
    ['northd', 'stop', '/run/ovn/ovn-northd.ctl exit', ''],
  ])('%s %s asks the daemon by its socket', (name, action, asked, answer) => {
    expect(ask([name, action], answer)).toEqual({ status: 0, asked: `--timeout=5 --target=${asked}\n` });
    expect(ask([name, action], undefined).status).not.toBe(0);
  });

  it.each(['ovs-vswitchd', 'northd', 'ovn-controller', 'nb'])('%s of another pod is not stopped by a hook', (name) => {
    expect(ask([name, 'stop'], '', { OVN_POD: 'one that waits' })).toEqual({ status: 0, asked: '' });
  });

  it.each([
    ['northd', 'Status: standby'],
    ['ovn-controller', 'not connected'],
  ])('%s is not ready: %s', (name, answer) => expect(ask([name, 'ready'], answer).status).not.toBe(0));
});
