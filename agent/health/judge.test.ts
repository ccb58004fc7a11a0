import { expect, it } from 'vitest';
import { judge, type Observations } from './judge.ts';
import { Lag } from './lag.ts';
import { verdictOf } from './network-unavailable.ts';

/** Of daemons, all that may fail but these two works. */
const seen = (northd: Lag, controller: Lag, now: number, numbers: readonly [number, number, number]): Observations => {
  const [asked, processed, reached] = numbers;
  return {
    ...{ northbound: {}, southbound: {}, openvswitch: {}, vswitchd: {} },
    northd: northd.follow(asked, processed, now),
    controller: controller.follow(processed, reached, now),
    unproven: { northd: northd.isUnproven, controller: controller.isUnproven },
    ...{ southboundWrites: undefined, openvswitchWrites: undefined, registration: 'there', otherName: undefined },
  };
};

const watched = () => {
  const [northd, controller] = [new Lag(), new Lag()];
  let now = 0;
  return (...numbers: readonly [number, number, number]) => {
    now += 1_500;
    const health = judge(seen(northd, controller, now, numbers));
    const uplink = { component: 'uplink', state: 'working', message: '' } as const;
    const states = health.map(({ component, state }) => [component, state] as const);
    const { 'ovn-northd': one, 'ovn-controller': two } = Object.fromEntries(states);
    return [one, two, verdictOf([...health, uplink])?.status];
  };
};

it('an agent that starts while ovn-northd has stopped never says that it works', () => {
  const look = watched();
  const looks = [8, 8, 9, 9, 10, 10, 11, 11].map((asked) => look(asked, 3, 3));
  expect(looks.slice(0, 4)).toEqual(Array(4).fill(['unknown', 'working', undefined]));
  expect(looks.at(-1)).toEqual(['failed', 'unknown', 'True']);
  expect(look(11, 11, 11)).toEqual(['working', 'working', 'False']);
});

it('nor of ovn-controller', () => {
  const look = watched();
  expect([look(9, 8, 3), look(9, 9, 3)]).toEqual(Array(2).fill(['working', 'unknown', undefined]));
  expect(look(10, 9, 9)).toEqual(['working', 'working', 'False']);
});

it('what has just been asked for the first time is no debt', () => {
  const look = watched();
  expect(look(9, 8, 8)).toEqual(['working', 'working', 'False']);
  expect(watched()(1, 0, 0)).toEqual(['working', 'working', 'False']);
});
