import { openflowBackendSuite } from './backend.suite.ts';
import { FakeWorld } from './testing/fake-world.ts';

openflowBackendSuite('the switch in memory', () => Promise.resolve(new FakeWorld()));
