/** Answers udnctl on a unix socket that only root can open. */
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { dirname } from 'node:path';
import { ApiError } from '../../api/errors.ts';
import { parseJson } from '../../api/parse.ts';
import { messageOf } from '../../base/error-message.ts';
import { reportDesired, reportDifferences } from './differences.ts';
import { reportPolicyMatrix } from './policies/matrix.ts';
import { reportPodEnd } from './policies/pod-end.ts';
import { parseEndQuestion, parseMatrixQuestion, parsePolicyFilter } from './policies/question.ts';
import { reportPolicies } from './policies/report.ts';
import { reportProblems } from './problems.ts';
import { type ReportSources, reportHealth, reportNetworks, reportNode, reportPods } from './report.ts';
import { reportServices } from './service-report.ts';

export interface StatusServer {
  close(): Promise<void>;
}

type Report = (sources: ReportSources, signal: AbortSignal) => unknown;

const REPORTS: ReadonlyMap<string, Report> = new Map<string, Report>([
  ['/v1/node', reportNode],
  ['/v1/networks', reportNetworks],
  ['/v1/pods', reportPods],
  ['/v1/problems', (sources) => reportProblems(sources)],
  ['/v1/policies', (sources) => reportPolicies(sources)],
  ['/v1/health', reportHealth],
  ['/v1/wanted', reportDesired],
  ['/v1/differences', reportDifferences],
]);

/** By what the path begins with; what follows is what is asked for. */
const QUESTIONS: readonly (readonly [prefix: string, report: (sources: ReportSources, asked: string) => unknown])[] = [
  ['/v1/services/', (sources, asked) => reportServices(sources, decodeURIComponent(asked))],
  ['/v1/policy-matrix/', (sources, asked) => reportPolicyMatrix(sources, ...parseMatrixQuestion(asked))],
  ['/v1/policies?', (sources, asked) => reportPolicies(sources, parsePolicyFilter(asked))],
  ['/v1/policy-end?', (sources, asked) => reportPodEnd(sources, parseEndQuestion(asked))],
];

const reportAt = (url: string): Report | undefined => {
  const [prefix = '', report] = QUESTIONS.find(([start]) => url.startsWith(start)) ?? [];
  return report === undefined ? REPORTS.get(url) : (sources) => report(sources, url.slice(prefix.length));
};

/** For reading everything that is programmed; who asked may have gone long before. */
const READ_MS = 60_000;

/** What can be read, and changed by `PUT` with JSON. */
export interface StatusSetting {
  read(): unknown;
  /** @returns as `read` after it @throws ApiError for a body that breaks its contract */
  change(body: unknown): unknown;
}

export interface StatusExtras {
  /** What is answered as it is, by path: the metrics, for who is root on the node and has no account. */
  readonly texts?: Readonly<Record<string, () => Promise<string>>>;
  readonly settings?: Readonly<Record<string, StatusSetting>>;
  /** What waits for a moment is done before anybody reads what there is. */
  readonly beforeReport?: () => void;
}

/** Takes the place of a socket that a dead agent left. */
export const serveStatus = async (
  path: string,
  sources: ReportSources,
  extras: StatusExtras = {},
): Promise<StatusServer> => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  rmSync(path, { force: true });
  const server = createServer((request, response) => {
    void answerTo(request, sources, extras).then(({ status, type = 'application/json', body }) =>
      response.writeHead(status, body === undefined ? {} : { 'content-type': type }).end(body),
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

interface Answer {
  readonly status: number;
  /** Default: JSON. */
  readonly type?: string;
  readonly body?: string;
}

const NOT_FOUND: Answer = { status: 404 };

const answerTo = async (
  request: IncomingMessage,
  sources: ReportSources,
  { texts = {}, settings = {}, beforeReport }: StatusExtras,
): Promise<Answer> => {
  const { method, url = '' } = request;
  const [text, setting] = [texts[url], settings[url]];
  if (method === 'PUT') return setting === undefined ? NOT_FOUND : await change(setting, request);
  if (method !== 'GET') return NOT_FOUND;
  if (text !== undefined) return await read(text, 'text/plain');
  if (setting !== undefined) return await read(async () => JSON.stringify(setting.read()));
  const report = reportAt(url);
  if (report === undefined) return NOT_FOUND;
  beforeReport?.();
  return await read(async () => JSON.stringify(await report(sources, AbortSignal.timeout(READ_MS))));
};

const read = async (body: () => Promise<string>, type?: string): Promise<Answer> => {
  try {
    return { status: 200, body: await body(), ...(type !== undefined && { type }) };
  } catch (error) {
    return failed(error instanceof ApiError ? 400 : 500, error);
  }
};

const change = async (setting: StatusSetting, request: IncomingMessage): Promise<Answer> => {
  try {
    const body = parseJson(await textOf(request), 'the body of the request');
    return { status: 200, body: JSON.stringify(setting.change(body)) };
  } catch (error) {
    return failed(error instanceof ApiError ? 400 : 500, error);
  }
};

const failed = (status: number, error: unknown): Answer => ({
  status,
  body: JSON.stringify({ error: messageOf(error) }),
});

const MAX_BODY = 64 * 1024;

/** @throws ApiError for more than anything here needs */
const textOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY) throw new ApiError('ERR_API_SYNTAX', `the body is longer than ${MAX_BODY} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
};
