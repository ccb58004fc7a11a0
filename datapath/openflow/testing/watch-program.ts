/** A process that watches a bridge until it is killed, and says when it does: `watch-program.ts RUN-DIRECTORY BRIDGE`. */
import { commandOf } from '../../../ovsdb/testing/programs.ts';
import { createCommandRunner } from '../../exec/node-runner.ts';
import { Ofctl } from '../ofctl.ts';
import { parentGuard } from '../open.ts';

const [, , runDirectory, bridge = ''] = process.argv;
const program = await commandOf('ovs-ofctl');
const client = new Ofctl({ runner: createCommandRunner(), runDirectory, program, guard: parentGuard() });
for await (const _ of client.watch(bridge, new AbortController().signal)) process.stdout.write('ready\n');
