/** Answers udnctl on a unix socket that only root can open. */
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname } from 'node:path';
import { messageOf } from '../../base/error-message.ts';
import { reportDesired, reportDifferences } from './differences.ts';
import { reportProblems } from './problems.ts';
import { type ReportSources, reportHealth, reportNetworks, reportNode, reportPods } from './report.ts';
import { reportServices } from './service-report.ts';
import { unenforcedPolicies } from './unenforced-policies.ts';

export interface StatusServer {
  close(): Promise<void>;
}

type Report = (sources: ReportSources, signal: AbortSignal) => unknown;

const REPORTS: ReadonlyMap<string, Report> = new Map<string, Report>([
  ['/v1/node', reportNode],
  ['/v1/networks', reportNetworks],
  ['/v1/pods', reportPods],
  ['/v1/problems', async (sources, signal) => reportProblems(sources, await unenforcedPolicies(sources, signal))],
  ['/v1/health', reportHealth],
  ['/v1/wanted', reportDesired],
  ['/v1/differences', reportDifferences],
]);

const SERVICES = '/v1/services/';

const reportAt = (url: string): Report | undefined =>
  url.startsWith(SERVICES)
    ? (sources) => reportServices(sources, decodeURIComponent(url.slice(SERVICES.length)))
    : REPORTS.get(url);

/** For reading everything that is programmed; who asked may have gone long before. */
const READ_MS = 60_000;

/** What is answered as it is, by path: the metrics, for who is root on the node and has no account. */
export type StatusTexts = Readonly<Record<string, () => Promise<string>>>;

/** Takes the place of a socket that a dead agent left. */
export const serveStatus = async (
  path: string,
  sources: ReportSources,
  texts: StatusTexts = {},
): Promise<StatusServer> => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  rmSync(path, { force: true });
  const server = createServer((request, response) => {
    const text = texts[request.url ?? ''];
    if (request.method === 'GET' && text !== undefined) {
      answerText(text).then(
        (body) => response.writeHead(200, { 'content-type': 'text/plain' }).end(body),
        (error: unknown) => response.writeHead(500).end(messageOf(error)),
      );
      return;
    }
    const report = reportAt(request.url ?? '');
    if (request.method !== 'GET' || report === undefined) {
      response.writeHead(404).end();
      return;
    }
    void answer(report, sources).then(({ status, body }) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(body),
    );
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

/** What throws at once rejects, too. */
const answerText = async (text: () => Promise<string>): Promise<string> => await text();

const answer = async (report: Report, sources: ReportSources): Promise<{ status: number; body: string }> => {
  try {
    return { status: 200, body: JSON.stringify(await report(sources, AbortSignal.timeout(READ_MS))) };
  } catch (error) {
    return { status: 500, body: JSON.stringify({ error: messageOf(error) }) };
  }
};
