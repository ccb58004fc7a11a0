/** Asks the node's agent over its status socket. */
import { request } from 'node:http';
import { z } from 'zod';
import {
  type NetworkStatus,
  networkStatusSchema,
  type PodStatus,
  type ProblemStatus,
  podStatusSchema,
  problemSchema,
} from '../../api/agent-status.ts';
import { parseWith } from '../../api/parse.ts';
import { CliError } from '../errors.ts';

export const DEFAULT_AGENT_SOCKET = '/run/ovn-udn/agent.sock';

export interface AgentClient {
  networks(): Promise<NetworkStatus[]>;
  pods(): Promise<PodStatus[]>;
  problems(): Promise<ProblemStatus[]>;
}

export const connectAgent = (socketPath: string): AgentClient => {
  const ask = async <Item extends z.ZodType>(path: string, item: Item): Promise<z.output<Item>[]> =>
    parseWith(z.array(item), JSON.parse(await get(socketPath, path)), `the agent's answer to ${path}`);
  return {
    networks: () => ask('/v1/networks', networkStatusSchema),
    pods: () => ask('/v1/pods', podStatusSchema),
    problems: () => ask('/v1/problems', problemSchema),
  };
};

const get = (socketPath: string, path: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const fail = (error: Error): void =>
      reject(
        new CliError(
          `the agent cannot be asked at ${socketPath}: ${error.message}; udnctl has to run as root on a node whose agent is running`,
        ),
      );
    request({ socketPath, path }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', fail);
      response.on('end', () => {
        const body = Buffer.concat(chunks).toString();
        if (response.statusCode === 200) resolve(body);
        else fail(new Error(`it answered ${response.statusCode} to ${path}`));
      });
    })
      .on('error', fail)
      .end();
  });
