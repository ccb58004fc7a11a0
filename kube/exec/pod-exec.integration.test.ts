import { describe, expect, it } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { createCredentials } from '../config/credentials.ts';
import { createPodExec } from './pod-exec.ts';
import { type ExecRequest, exitCode, SUCCESS, startExecServer } from './testing/exec-server.ts';

const COMMAND = {
  namespace: 'ovn-udn',
  pod: 'udn-agent-x',
  container: 'udn-agent',
  command: ['udnctl', 'a b', '$(c)&d'],
};

/** @returns what it wrote, and its exit status */
const execOn = async (server: string, token = 'secret', signal?: AbortSignal) => {
  const credentials = createCredentials({ token }, { clock: systemClock });
  const exec = createPodExec({ server, namespace: 'default', credentials }, { userAgent: 'test/1' });
  const written = { stdout: '', stderr: '' };
  const take = (stream: keyof typeof written) => (chunk: Uint8Array) => {
    written[stream] += Buffer.from(chunk).toString('latin1');
  };
  try {
    const status = await exec.run(COMMAND, { stdout: take('stdout'), stderr: take('stderr') }, signal);
    return { ...written, status };
  } finally {
    exec.close();
  }
};

describe('a command in a pod', () => {
  it('gets its arguments as they are, and hands on output and exit status', async () => {
    let seen: ExecRequest | undefined;
    await using server = await startExecServer((request) => {
      seen = request;
      return { stdout: ['one', ' two\n'], stderr: ['careful\n'], status: exitCode(3) };
    });
    expect(await execOn(server.url)).toEqual({ stdout: 'one two\n', stderr: 'careful\n', status: 3 });
    expect(seen).toMatchObject({ pod: 'ovn-udn/udn-agent-x', container: 'udn-agent', command: COMMAND.command });
    expect(seen?.headers).toMatchObject({ authorization: 'Bearer secret', 'user-agent': 'test/1' });
  });

  it('may write bytes, and megabytes', async () => {
    const piece = Uint8Array.from({ length: 32_768 }, (_, index) => index % 256);
    await using server = await startExecServer(() => ({
      stdout: Array.from({ length: 100 }, () => piece),
      ...SUCCESS,
    }));
    const { stdout, status } = await execOn(server.url);
    expect(status).toBe(0);
    expect(stdout).toBe(Buffer.from(piece).toString('latin1').repeat(100));
  });

  it('is refused with what the server says', async () => {
    const body = { kind: 'Status', status: 'Failure', reason: 'Forbidden', message: 'you may not', code: 403 };
    await using server = await startExecServer(() => ({ httpStatus: 403, body }));
    await expect(execOn(server.url)).rejects.toMatchObject({
      ...{ code: 'ERR_KUBE_STATUS', status: 403, reason: 'Forbidden' },
      message: expect.stringMatching(/exec in pod ovn-udn\/udn-agent-x by http.*: you may not \(403\)/),
    });
  });

  it('is asked again with newer credentials, once', async () => {
    let requests = 0;
    await using server = await startExecServer(() => {
      requests += 1;
      return { httpStatus: 401, body: 'who are you?' };
    });
    await expect(execOn(server.url)).rejects.toMatchObject({ status: 401 });
    // A token that is written in the kubeconfig has no newer one.
    expect(requests).toBe(1);
  });

  it('whose end does not come is an error, whatever it wrote', async () => {
    await using server = await startExecServer(() => ({ stdout: ['half'], status: undefined }));
    await expect(execOn(server.url)).rejects.toMatchObject({ code: 'ERR_KUBE_NETWORK' });
  });

  it('ends when nobody waits for it any more', async () => {
    const enough = new AbortController();
    await using server = await startExecServer(() => {
      setImmediate(() => enough.abort(new Error('enough')));
      return undefined;
    });
    await expect(execOn(server.url, 'secret', enough.signal)).rejects.toThrow('enough');
  });

  it('needs a server', async () => {
    await expect(execOn('http://127.0.0.1:1')).rejects.toMatchObject({
      code: 'ERR_KUBE_NETWORK',
      message: expect.stringContaining('ECONNREFUSED'),
    });
    await expect(execOn('ftp://nowhere')).rejects.toMatchObject({ code: 'ERR_KUBE_CONFIG' });
  });
});
