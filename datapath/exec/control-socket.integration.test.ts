/** The control socket of a real ovs-vswitchd answers as ovs-appctl(8) says that it does. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { VswitchWorld } from '../openflow/testing/vswitch-world.ts';
import { byControlSockets } from './control-socket.ts';
import { CommandError } from './errors.ts';
import { FakeCommandRunner } from './fake.ts';

let world: VswitchWorld;
beforeAll(async () => {
  world = await VswitchWorld.create();
  await world.addBridge('br0');
});
afterAll(() => world?.[Symbol.asyncDispose]());

const ask = (...args: string[]) =>
  byControlSockets(new FakeCommandRunner({})).run({
    file: 'ovs-appctl',
    args: ['--target', `${world.runDirectory}/vswitchd.ctl`, ...args],
  });

it.each([['revalidator/wait'], ['fdb/show', 'br0'], ['list-commands']])('%s', async (...args) => {
  expect((await ask(...args)).stdout).toBe(await world.control(...args));
});

it('refuses what it does not know', async () => {
  const refusal: unknown = await ask('dpctl/no-such-command', '{"}').catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(CommandError);
  expect((refusal as CommandError).stderr).toContain('"dpctl/no-such-command" is not a valid command');
});
