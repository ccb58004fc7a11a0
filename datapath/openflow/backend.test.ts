import { openflowBackendSuite } from './backend.suite.ts';
import { manyFlowsSuite } from './many-flows.suite.ts';
import { noFloodSuite } from './no-flood.suite.ts';
import { FakeWorld } from './testing/fake-world.ts';

openflowBackendSuite('the switch in memory', () => Promise.resolve(new FakeWorld()));
manyFlowsSuite('the switch in memory', () => Promise.resolve(new FakeWorld()));
noFloodSuite('the switch in memory', () => Promise.resolve(new FakeWorld()));
