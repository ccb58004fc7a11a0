/** A Control over the socket of a supervisor in another process. */
import { request } from 'node:http';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { hasSystemCode, SandboxError, type SandboxErrorCode } from '../errors.ts';
import { commandLineResponse, errorResponse, statusResponse } from './protocol.ts';
import { stateFolder } from './state-folder.ts';
import type { Control, SandboxStatus } from './types.ts';

/** @param dial connects to it; default: its socket on this machine */
export const connectControl = (name: string, dial = (): Duplex => connect(stateFolder(name).control)): Control => {
  const call = (method: string, path: string, body?: unknown): Promise<unknown> =>
    exchange(name, dial, method, path, body);
  return {
    name,
    status: async () => toStatus(await call('GET', '/status')),
    enter: async (target, argv, { env = {} } = {}) =>
      commandLineResponse.parse(await call('POST', '/enter', { target, argv, env })),
    kill: async (node, program, signal) => {
      await call('POST', '/kill', { node, program, signal });
    },
    reboot: async (node) => {
      await call('POST', '/reboot', { node });
    },
    down: async () => {
      await call('POST', '/down');
    },
  };
};

/** Of a supervisor; one in a guest may hang with it. */
const ANSWER_MS = 60_000;

const exchange = async (
  name: string,
  dial: () => Duplex,
  method: string,
  path: string,
  body: unknown,
): Promise<unknown> => {
  const { status, content } = await send(dial, method, path, body).catch((cause: unknown): never => {
    if (!hasSystemCode(cause, 'ENOENT', 'ECONNREFUSED')) throw cause;
    throw new SandboxError('ERR_SANDBOX_DOWN', `the sandbox "${name}" is not up`, { cause });
  });
  const answer: unknown = JSON.parse(content);
  if (status === 200) return answer;
  const { code, message } = errorResponse.parse(answer);
  throw new SandboxError(code as SandboxErrorCode, message);
};

const send = (
  dial: () => Duplex,
  method: string,
  path: string,
  body: unknown,
): Promise<{ readonly status: number | undefined; readonly content: string }> =>
  new Promise((resolve, reject) => {
    const call = request({ createConnection: dial, method, path, timeout: ANSWER_MS }, (response) => {
      text(response).then((content) => resolve({ status: response.statusCode, content }), reject);
    });
    call.on('error', reject);
    call.on('timeout', () =>
      call.destroy(
        new SandboxError('ERR_SANDBOX_TIMEOUT', `no answer to ${method} ${path} after ${ANSWER_MS / 1000} s`),
      ),
    );
    call.end(body === undefined ? undefined : JSON.stringify(body));
  });

const toStatus = (answer: unknown): SandboxStatus => {
  const status = statusResponse.parse(answer);
  return { ...status, kubeconfig: status.kubeconfig, guest: status.guest, ...withPids(status) };
};

/** JSON leaves out what is undefined. */
const withPids = (status: ReturnType<typeof statusResponse.parse>): Pick<SandboxStatus, 'nodes' | 'services'> => ({
  nodes: status.nodes.map((node) => ({ ...node, pid: node.pid, services: node.services.map(complete) })),
  services: status.services.map(complete),
});

const complete = (service: ReturnType<typeof statusResponse.parse>['services'][number]) => ({
  ...service,
  pid: service.pid,
  lastEnd: service.lastEnd,
});
