/** Answers udnctl on a unix socket that only root can open. */
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname } from 'node:path';
import { type ReportSources, reportNetworks, reportPods, reportProblems } from './report.ts';

export interface StatusServer {
  close(): Promise<void>;
}

const REPORTS: Readonly<Record<string, (sources: ReportSources) => unknown>> = {
  '/v1/networks': reportNetworks,
  '/v1/pods': reportPods,
  '/v1/problems': reportProblems,
};

/** Takes the place of a socket that a dead agent left. */
export const serveStatus = async (path: string, sources: ReportSources): Promise<StatusServer> => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  rmSync(path, { force: true });
  const server = createServer((request, response) => {
    const report = REPORTS[request.url ?? ''];
    if (request.method !== 'GET' || report === undefined) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(report(sources)));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  chmodSync(path, 0o600);
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
