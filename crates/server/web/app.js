// The page of `minwise serve`: the list of its addresses with their views.

import { start } from './router.js';
import { archive } from './routes/archive.js';
import { check } from './routes/check.js';
import { clusters } from './routes/clusters.js';
import { documentPage } from './routes/document.js';
import { overview } from './routes/overview.js';
import { pair } from './routes/pair.js';
import { result } from './routes/result.js';

start([
  { path: /^\/$/, nav: '/', view: check },
  { path: /^\/check$/, nav: '/', view: result },
  { path: /^\/pair$/, view: pair },
  { path: /^\/archive$/, nav: '/archive', view: archive },
  { path: /^\/document\/([^/]+)$/, nav: '/archive', view: documentPage },
  { path: /^\/clusters$/, nav: '/clusters', view: clusters },
  { path: /^\/overview$/, nav: '/overview', view: overview },
]);
