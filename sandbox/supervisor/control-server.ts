/** Serves a Control over a unix socket. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { ZodError } from 'zod';
import { messageOf } from '../../base/error-message.ts';
import { SandboxError } from '../errors.ts';
import { enterRequest, killRequest, rebootRequest } from './protocol.ts';
import type { Control } from './types.ts';

/** @returns what stops listening and resolves when the last answer has gone out */
export const serveControl = async (path: string, control: Control): Promise<() => Promise<void>> => {
  const server = createServer((request, response) => void answer(control, request, response));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  return () => new Promise((resolve) => server.close(() => resolve()));
};

const answer = async (control: Control, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  try {
    const body: unknown = JSON.parse((await text(request)) || '{}');
    send(response, 200, await perform(control, `${request.method} ${request.url}`, body));
  } catch (error) {
    const code = error instanceof SandboxError ? error.code : 'ERR_SANDBOX_USAGE';
    const message = error instanceof ZodError ? (error.issues[0]?.message ?? 'invalid request') : messageOf(error);
    send(response, 400, { code, message });
  }
};

const perform = async (control: Control, operation: string, body: unknown): Promise<unknown> => {
  switch (operation) {
    case 'GET /status':
      return await control.status();
    case 'POST /enter': {
      const { target, argv, env } = enterRequest.parse(body);
      return await control.enter(target, argv, { env });
    }
    case 'POST /kill': {
      const { node, program, signal } = killRequest.parse(body);
      await control.kill(node, program, signal as NodeJS.Signals | number);
      return {};
    }
    case 'POST /reboot':
      await control.reboot(rebootRequest.parse(body).node);
      return {};
    case 'POST /down':
      await control.down();
      return {};
    default:
      throw new SandboxError('ERR_SANDBOX_USAGE', `the supervisor does not know ${operation}`);
  }
};

const send = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
  response.end(JSON.stringify(body));
};
