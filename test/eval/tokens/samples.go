package main

// samples are a few sentences in scripts that are rare in the evaluation data.
var samples = map[string]string{
	"french":   "Le serveur garde chaque texte d’origine jusqu’à la fin de sa durée de vie ; un client peut demander n’importe quelle plage de lignes. Après l’échéance, l’identifiant n’est plus connu et la réponse l’explique clairement. Pourquoi la compilation a-t-elle échoué hier soir ?",
	"german":   "Der Server bewahrt jeden ursprünglichen Text bis zum Ende seiner Gültigkeit auf; ein Client kann jeden beliebigen Zeilenbereich anfordern. Größere Änderungen müssen ausdrücklich bestätigt werden, sonst bleibt alles unverändert.",
	"russian":  "Сервер хранит каждый исходный текст до истечения срока его жизни, и клиент может запросить любой диапазон строк. После этого идентификатор больше не известен, и ответ ясно об этом говорит. Почему сборка не удалась?",
	"greek":    "Ο διακομιστής κρατά κάθε αρχικό κείμενο μέχρι να λήξει ο χρόνος ζωής του και ο πελάτης μπορεί να ζητήσει οποιεσδήποτε γραμμές. Γιατί απέτυχε η μεταγλώττιση;",
	"arabic":   "يحتفظ الخادم بكل نص أصلي حتى نهاية مدة صلاحيته، ويمكن للعميل أن يطلب أي نطاق من الأسطر. لماذا فشل البناء البارحة؟",
	"hebrew":   "השרת שומר כל טקסט מקורי עד סוף תוקפו, והלקוח יכול לבקש כל טווח של שורות. מדוע הבנייה נכשלה אתמול?",
	"hindi":    "सर्वर हर मूल पाठ को उसकी समय सीमा तक रखता है और ग्राहक पंक्तियों का कोई भी भाग माँग सकता है। कल निर्माण क्यों विफल हुआ?",
	"thai":     "เซิร์ฟเวอร์เก็บข้อความต้นฉบับทุกฉบับไว้จนหมดอายุ และลูกค้าสามารถขอช่วงบรรทัดใดก็ได้ ทำไมการสร้างจึงล้มเหลว",
	"japanese": "サーバーは元のテキストを有効期限まで保存し、クライアントは任意の行範囲を要求できます。昨日のビルドはなぜ失敗したのですか。設定ファイルの読み込みに時間がかかりました。",
	"chinese":  "服务器会保存每一份原文直到其有效期结束，客户端可以请求任意行范围。昨天的构建为什么失败了？请检查配置文件和日志中的错误信息。",
	"korean":   "서버는 유효 기간이 끝날 때까지 모든 원문을 보관하며 클라이언트는 원하는 줄 범위를 요청할 수 있습니다. 어제 빌드는 왜 실패했습니까?",
	"signs":    "✔ passed ✖ failed → next │ 12 ─────── ▶ ok ● done … “quoted” – dash — long • item 🎉 done 🚀 ship 😀",
}
