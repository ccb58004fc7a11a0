/** Many networks that come and go at once: what is done does not grow by a program for each of them. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createCommandRunner } from '../exec/node-runner.ts';
import type { BatchRunner, Command } from '../exec/types.ts';
import { BRIDGE, flowItem, Subject, Test } from './testing/bridge-test.ts';
import { VswitchWorld } from './testing/vswitch-world.ts';
import { type BridgeItem, bridgeItemKey } from './types.ts';

const NETWORKS = 100;
const FIRST_NUMBER = 10;
const NAMES = Array.from({ length: NETWORKS }, (_, index) => `patch-${index}`);
const NUMBERS = NAMES.map((_, index) => FIRST_NUMBER + index);
const UPLINK_ITEM = flowItem();
const ITEMS = NAMES.flatMap((port): readonly BridgeItem[] => [
  flowItem({ inPort: port, match: { ip: true } }),
  { bridge: BRIDGE, kind: 'noFlood', noFlood: { port } },
]);
const KEYS = new Set(ITEMS.map(bridgeItemKey));
const DONE = { failed: new Map(), waiting: new Map() };

let world: VswitchWorld;
let test: Test;
let subject: Subject;
/** Programs that were started, the long ones included. */
let started: Command[];

beforeEach(async () => {
  started = [];
  world = await VswitchWorld.create();
  test = await Test.create(world);
  const client = world.newClient({ runner: counted(createCommandRunner(), started) });
  subject = new Subject({ client, ports: world.ports });
  subject.want(UPLINK_ITEM);
  await subject.reconcile();
});
afterEach(async () => {
  await subject.backend.close();
  await test[Symbol.asyncDispose]();
});

const counted = (runner: BatchRunner, into: Command[]): BatchRunner => ({
  ...runner,
  run: (command, signal) => {
    into.push(command);
    return runner.run(command, signal);
  },
  batches: (command, signal) => {
    into.push(command);
    return runner.batches(command, signal);
  },
});

const addPorts = async (): Promise<void> => {
  const commands = NAMES.flatMap((port, index) => {
    const settings = ['type=dummy', `ofport_request=${NUMBERS[index]}`];
    return ['--', 'add-port', BRIDGE, port, '--', 'set', 'interface', port, ...settings];
  });
  await world.vsctl(...commands);
  for (const [index, port] of NAMES.entries()) world.ports.set(BRIDGE, port, NUMBERS[index]);
};

const removePorts = async (): Promise<void> => {
  await world.vsctl(...NAMES.flatMap((port) => ['--', 'del-port', BRIDGE, port]));
};

const reportRemovedPorts = (): void => {
  for (const port of NAMES) world.ports.set(BRIDGE, port, undefined);
};

/** What programs were asked to do meanwhile. */
const programsOf = async (run: () => Promise<unknown>): Promise<string[]> => {
  const before = started.length;
  await run();
  return started.slice(before).map(({ args }) => args.find((one) => SUBCOMMANDS.test(one)) ?? args.join(' '));
};
const SUBCOMMANDS = /^(?:monitor|dump-)/;

const create = async (): Promise<void> => {
  await addPorts();
  subject.want(UPLINK_ITEM, ...ITEMS);
  expect(await subject.reconcile(KEYS)).toMatchObject({ written: ITEMS.length, ...DONE });
};

/** Nothing is read again before a further flow is written. */
const expectTrust = async (): Promise<void> => {
  const further = flowItem({ priority: 77 });
  subject.desired.set(bridgeItemKey(further), further);
  const writing = () => subject.reconcile(new Set([bridgeItemKey(further)]));
  expect(await programsOf(writing)).toEqual([]);
};

it('networks come without a program', async () => {
  expect(await programsOf(create)).toEqual([]);
  expect(await test.noFlood()).toEqual(NUMBERS);
  expect(await subject.differences()).toEqual([]);
  await expectTrust();
});

it.each(['before', 'after'])('networks go without a program, their ports %s them', async (when) => {
  await create();
  subject.want(UPLINK_ITEM);
  if (when === 'before') {
    await removePorts();
    reportRemovedPorts();
  }
  const going = async (): Promise<void> => {
    expect(await subject.reconcile(KEYS)).toMatchObject({ written: NETWORKS, ...DONE });
  };
  expect(await programsOf(going)).toEqual([]);
  if (when === 'after') {
    expect(await test.noFlood()).toEqual(NUMBERS);
    await removePorts();
    reportRemovedPorts();
  }
  await expectTrust();
  expect((await subject.reconcile()).failed).toEqual(new Map());
  expect(await subject.differences()).toEqual([]);
});

it('networks whose ports go at the same moment fail nothing, and hold up no other flow', async () => {
  await addPorts();
  await removePorts();
  subject.want(UPLINK_ITEM, ...ITEMS);
  const { written, failed, waiting } = await subject.reconcile(KEYS);
  expect({ written, failed, waiting: waiting.size }).toEqual({
    written: NETWORKS,
    failed: new Map(),
    waiting: NETWORKS,
  });
  reportRemovedPorts();
  subject.want(UPLINK_ITEM);
  expect(await subject.reconcile(KEYS)).toMatchObject({ written: NETWORKS, ...DONE });
  await expectTrust();
});
