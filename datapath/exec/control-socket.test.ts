import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { byControlSockets } from './control-socket.ts';
import { FakeCommandRunner } from './fake.ts';

let folder: string;
let socket: string;
let server: Server | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'control-socket-'));
  socket = join(folder, 'ovs-vswitchd.12.ctl');
});
afterEach(async () => {
  server?.close();
  server = undefined;
  await rm(folder, { recursive: true });
});

/** A daemon that answers each request as `answer` does. */
const serve = async (answer: (request: unknown, connection: Socket) => void): Promise<void> => {
  server = createServer((connection) => {
    connection.on('data', (data) => answer(JSON.parse(String(data)), connection)).on('error', () => {});
  }).listen(socket);
  await once(server, 'listening');
};

/** Each in a turn of its own, so that they arrive one by one. */
const sendParts = async (connection: Socket, parts: readonly string[]): Promise<void> => {
  for (const part of parts) await new Promise<void>((resolve) => connection.write(part, () => setImmediate(resolve)));
};

const programs = () => new FakeCommandRunner({ 'ovs-appctl': () => ({ stdout: 'by the program\n' }) });
const ask = (...args: string[]) => ({ file: 'ovs-appctl', args: ['--target', socket, ...args] });

describe('a control socket', () => {
  it('is sent the command with its arguments, and no program is started', async () => {
    const requests: unknown[] = [];
    await serve((request, connection) => {
      requests.push(request);
      connection.write('{"error":null,"id":0,"result":"a\\nb\\n"}');
    });
    const runner = programs();
    const answer = await byControlSockets(runner).run(ask('dpctl/flush-conntrack', 'zone=1', 'mark=0x2'));
    expect(answer).toEqual({ stdout: 'a\nb\n', stderr: '' });
    expect(requests).toEqual([{ id: 0, method: 'dpctl/flush-conntrack', params: ['zone=1', 'mark=0x2'] }]);
    expect(runner.commands).toEqual([]);
  });

  it('may send its reply in parts, which may look like a whole one', async () => {
    await serve((_, connection) => void sendParts(connection, ['{"error":null,"id":0,"result":"{}', '{é}', '\\n"}']));
    expect((await byControlSockets(programs()).run(ask('dpif/show'))).stdout).toBe('{}{é}\n');
  });

  it('refuses with what it says', async () => {
    await serve((_, connection) =>
      connection.write('{"error":"no datapaths exist\\novs-vswitchd: ","id":0,"result":null}'),
    );
    await expect(byControlSockets(programs()).run(ask('dpctl/flush-conntrack'))).rejects.toMatchObject({
      code: 'ERR_EXEC_EXIT',
      exitCode: 2,
      stderr: expect.stringContaining('no datapaths exist'),
    });
  });

  it('that does not answer in time is left, and so is one whose caller gives up', async () => {
    await serve(() => {});
    const runner = byControlSockets(programs());
    await expect(runner.run({ ...ask('revalidator/wait'), timeoutMs: 20 })).rejects.toMatchObject({
      code: 'ERR_EXEC_TIMEOUT',
    });
    const stop = new AbortController();
    const running = runner.run(ask('revalidator/wait'), stop.signal);
    stop.abort();
    await expect(running).rejects.toMatchObject({ code: 'ERR_EXEC_ABORTED' });
  });

  it('may send only so much', async () => {
    await serve((_, connection) => connection.write(`{"error":null,"id":0,"result":"${'x'.repeat(2000)}"}`));
    await expect(byControlSockets(programs()).run({ ...ask('dpif/show'), maxOutput: 1000 })).rejects.toMatchObject({
      code: 'ERR_EXEC_OUTPUT_LIMIT',
    });
  });
});

describe('ovs-appctl is started', () => {
  const expectProgram = async (...args: string[]) => {
    const runner = programs();
    const command = { file: 'ovs-appctl', args };
    expect((await byControlSockets(runner).run(command)).stdout).toBe('by the program\n');
    expect(runner.commands).toEqual([command]);
  };

  it('where nobody listens', () => expectProgram('--target', socket, 'dpif/show'));

  it('when the daemon ends before it has replied', async () => {
    await serve((_, connection) => connection.end('{"error":null,"id":0,"res'));
    await expectProgram('--target', socket, 'dpif/show');
  });

  it('when the reply is none of this protocol', async () => {
    await serve((_, connection) => connection.write('{"result":{"a":1}}'));
    await expectProgram('--target', socket, 'dpif/show');
  });

  it('where the socket is unknown', () => expectProgram('dpif/show'));
});

it('other programs are started', async () => {
  const runner = new FakeCommandRunner({ conntrack: () => ({ stdout: 'conntrack\n' }) });
  expect((await byControlSockets(runner).run({ file: 'conntrack', args: ['--target', socket, 'x'] })).stdout).toBe(
    'conntrack\n',
  );
});
