import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ASK_PATH, type GuardedRequest, refusalOf } from './guard.ts';

const TOKEN = 'a'.repeat(43);
const OPTIONS = { port: 8_080, token: TOKEN, isPublic: (path: string) => path === '/' };
const GOOD = { host: '127.0.0.1:8080', authorization: `Bearer ${TOKEN}` };

const statusOf = (headers: GuardedRequest['headers'], path = '/api/stream', method = 'GET'): number | undefined =>
  refusalOf({ method, path, headers }, OPTIONS)?.status;

it.each([
  ['with the token, by each of its names', { ...GOOD }, undefined],
  ['by localhost', { ...GOOD, host: 'localhost:8080' }, undefined],
  ['by IPv6', { ...GOOD, host: '[::1]:8080' }, undefined],
  ['by its own page', { ...GOOD, origin: 'http://127.0.0.1:8080', 'sec-fetch-site': 'same-origin' }, undefined],
  ['without a token', { host: GOOD.host }, 401],
  ['with another token', { ...GOOD, authorization: `Bearer ${'b'.repeat(43)}` }, 401],
  ['with a part of the token', { ...GOOD, authorization: `Bearer ${TOKEN.slice(1)}` }, 401],
  ['with the token in a cookie', { host: GOOD.host, cookie: `token=${TOKEN}` }, 401],
  ['with the token as a password', { ...GOOD, authorization: `Basic ${TOKEN}` }, 401],
  ['by a name that was bound to localhost', { ...GOOD, host: 'evil.example:8080' }, 421],
  ['by its name and another port', { ...GOOD, host: '127.0.0.1:80' }, 421],
  ['by its name without the port', { ...GOOD, host: '127.0.0.1' }, 421],
  ['without a name', { authorization: GOOD.authorization }, 421],
  ['by another page', { ...GOOD, origin: 'https://evil.example' }, 403],
  ['by a page of another port', { ...GOOD, origin: 'http://127.0.0.1:9090', 'sec-fetch-site': 'same-site' }, 403],
  ['by a page of another of its names', { ...GOOD, origin: 'http://localhost:8080' }, 403],
  ['by a page of a sandboxed frame', { ...GOOD, origin: 'null' }, 403],
  ['by a page that hides its origin', { ...GOOD, 'sec-fetch-site': 'cross-site' }, 403],
])('a request %s', (_, headers, expected) => expect(statusOf(headers)).toBe(expected));

it('on port 80 has the names that browsers send: without the port', () => {
  const at = (host: string, origin: string, port: number): number | undefined =>
    refusalOf({ method: 'GET', path: '/api/stream', headers: { ...GOOD, host, origin } }, { ...OPTIONS, port })?.status;
  for (const name of ['127.0.0.1', 'localhost', '[::1]']) expect(at(name, `http://${name}`, 80)).toBeUndefined();
  expect(at('localhost:80', 'http://localhost:80', 80)).toBeUndefined();
  expect(at('evil.example', 'http://evil.example', 80)).toBe(421);
  expect(at('localhost', 'http://127.0.0.1', 80)).toBe(403);
  expect(at('localhost', 'http://localhost', 8_080)).toBe(421);
});

it('the page itself has nothing of the cluster: a link may open it, and no other page', () => {
  expect(statusOf({ host: GOOD.host, 'sec-fetch-site': 'none' }, '/')).toBeUndefined();
  expect(statusOf({ host: GOOD.host, 'sec-fetch-site': 'cross-site' }, '/')).toBe(403);
  expect(statusOf({ host: 'evil.example:8080' }, '/')).toBe(421);
});

it('a link of another page opens the page in a tab, and in no frame; it opens nothing else', () => {
  const navigation = { ...GOOD, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
  expect(statusOf({ ...navigation, 'sec-fetch-dest': 'document' }, '/')).toBeUndefined();
  expect(statusOf({ ...navigation, 'sec-fetch-dest': 'iframe' }, '/')).toBe(403);
  expect(statusOf({ ...navigation, 'sec-fetch-dest': 'document', origin: 'null' }, '/')).toBe(403);
  expect(statusOf({ ...navigation, 'sec-fetch-dest': 'document' }, '/api/stream')).toBe(403);
});

it('each path has one method', () => {
  expect(statusOf(GOOD, ASK_PATH, 'POST')).toBeUndefined();
  expect(statusOf(GOOD, ASK_PATH, 'GET')).toBe(405);
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'HEAD', 'TRACE', 'CONNECT']) {
    expect(statusOf(GOOD, '/api/stream', method)).toBe(405);
  }
});

it('no other text passes for the token', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      fc.pre(text !== TOKEN);
      expect(statusOf({ ...GOOD, authorization: `Bearer ${text}` })).toBe(401);
    }),
  );
});
