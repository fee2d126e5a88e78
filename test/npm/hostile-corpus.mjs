// What would run, load or break out if a page took it for markup. Each that runs sets window.hurt.
export const corpus = [
  `<img src=x onerror="window.hurt=1">`,
  `<script>window.hurt=2</script>`,
  `"><svg onload=window.hurt=3>`,
  `javascript:window.hurt=4`,
  `'-(window.hurt=5)-'`,
  `<iframe srcdoc="<script>parent.hurt=6</script>"></iframe>`,
  `</title></textarea><style>*{display:none}</style>`,
  `{{constructor.constructor('window.hurt=7')()}}`,
  `<a href="data:text/html,<script>window.hurt=8</script>">x</a>`,
  `\u202e<b>right to left</b>\u0007\u001b[31mred`,
];
