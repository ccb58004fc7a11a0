import { expect, it } from 'vitest';
import { healthAnswer } from './health-answer.ts';

it('is what kube-proxy says', () => {
  expect(healthAnswer({ service: 'red/web', localEndpoints: { 4: 2 } }, 4, true)).toEqual({
    status: 200,
    headers: {
      'content-type': 'application/json',
      'x-content-type-options': 'nosniff',
      'x-load-balancing-endpoint-weight': '2',
    },
    body: `{
	"service": {
		"namespace": "red",
		"name": "web"
	},
	"localEndpoints": 2,
	"serviceProxyHealthy": true
}`,
  });
});

it.each([
  ['no endpoint', { 4: 0 }, 4, true, [503, 0]],
  ['an agent that does not get on', { 4: 1 }, 4, false, [503, 1]],
  ['endpoints of the other family', { 4: 1, 6: 0 }, 6, true, [503, 0]],
  ['endpoints of its family', { 4: 0, 6: 3 }, 6, true, [200, 3]],
  ['a family that the Service does not have', { 6: 3 }, 4, true, [200, 3]],
] as const)('with %s', (_, localEndpoints, family, isHealthy, expected) => {
  const { status, headers, body } = healthAnswer({ service: 'red/web', localEndpoints }, family, isHealthy);
  const response = JSON.parse(body);
  expect([status, response.localEndpoints]).toEqual(expected);
  expect(response.serviceProxyHealthy).toBe(isHealthy);
  expect(headers['x-load-balancing-endpoint-weight']).toBe(String(response.localEndpoints));
});
